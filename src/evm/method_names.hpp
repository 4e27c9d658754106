// Owns: the names of the methods whose use this wing reads out of transactions.
#pragma once

#include <holdfast/domain/ids.hpp>

namespace holdfast::evm {

inline const domain::MethodName transfer_authorization_name{"transfer_authorization"};
inline const domain::MethodName permit2_name{"permit2"};

}  // namespace holdfast::evm
