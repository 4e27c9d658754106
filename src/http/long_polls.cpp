#include "http/long_polls.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace holdfast::http {

namespace asio = boost::asio;

asio::awaitable<Result<domain::Intent>> LongPolls::wait(std::optional<domain::CallerId> caller,
                                                        domain::IntentId id, engine::WaitFor level,
                                                        std::int64_t ms) {
  if (!stopping_) {
    asio::cancellation_signal stop;
    struct Place {
      std::list<asio::cancellation_signal*>& list;
      std::list<asio::cancellation_signal*>::iterator at;
      ~Place() { list.erase(at); }
    } const place{waits_, waits_.insert(waits_.end(), &stop)};
    try {
      co_return co_await asio::co_spawn(
          executor_, engine_.wait(caller, id, level, ms),
          asio::bind_cancellation_slot(stop.slot(), asio::use_awaitable));
    } catch (const boost::system::system_error& error) {
      if (error.code() != asio::error::operation_aborted || !stopping_) throw;
    }
  }
  co_return co_await engine_.find(caller, id);
}

void LongPolls::stop() {
  stopping_ = true;
  const auto waits = waits_;
  for (asio::cancellation_signal* wait : waits) wait->emit(asio::cancellation_type::terminal);
}

}  // namespace holdfast::http
