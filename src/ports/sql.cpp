#include <holdfast/ports/sql.hpp>

#include "domain/enum_text.hpp"

namespace holdfast::sql {
namespace {

constexpr domain::EnumText<Cause> cause_texts[] = {
    {Cause::constraint, "constraint"}, {Cause::busy, "busy"},       {Cause::full, "full"},
    {Cause::read_only, "read_only"},   {Cause::corrupt, "corrupt"}, {Cause::io, "io"},
    {Cause::in_doubt, "in_doubt"},     {Cause::misuse, "misuse"},
};

}  // namespace

std::string_view to_text(Cause cause) { return domain::text_of(cause_texts, cause); }

}  // namespace holdfast::sql
