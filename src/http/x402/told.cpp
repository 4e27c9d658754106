#include "http/x402/told.hpp"

#include <holdfast/base/log.hpp>

namespace holdfast::http::x402 {

boost::asio::awaitable<void> told(engine::Engine& engine, domain::IntentId id, bool written) {
  std::string_view why;
  try {
    co_await engine.delivered(id, written);
  } catch (const store::StoreUnavailable&) {
    why = "the store cannot be used now";
  } catch (const store::StoreInDoubt&) {
    why = "the store is in doubt";
  } catch (const store::StoreBusy&) {
    why = "the store is busy";
  }
  if (why.empty()) co_return;
  log::warn("delivery_not_noted", {{"intent", domain::text(id)}, {"why", why}});
}

}  // namespace holdfast::http::x402
