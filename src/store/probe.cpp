// The smallest write there is: to learn whether a store that could not write now can.
#include "store/statements.hpp"
#include "store/writes.hpp"

namespace holdfast::store {

void probe_write(Txn& txn, std::int64_t now_ms) {
  execute(txn,
          "INSERT INTO cursors (name, value) VALUES ('probe', $1)"
          " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          now_ms);
}

}  // namespace holdfast::store
