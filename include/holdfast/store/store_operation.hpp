// Owns: the template half of Store: a step and its waiter as one queue node.
#pragma once

namespace holdfast::store {}  // namespace holdfast::store
