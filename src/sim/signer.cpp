#include "sim/signer.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "sim/wire.hpp"

namespace holdfast::sim {

boost::asio::awaitable<ports::Outcome<Bytes>> ScriptedSigner::sign(domain::Address account,
                                                                   Digest digest) {
  co_await boost::asio::post(boost::asio::use_awaitable);
  if (down_) co_return ports::NotSent{"the signer is down"};
  if (!failures_.empty()) {
    const Failure failure = std::move(failures_.front());
    failures_.pop_front();
    co_return std::visit([](const auto& ending) { return ports::Outcome<Bytes>(ending); }, failure);
  }
  if (std::find(accounts_.begin(), accounts_.end(), account) == accounts_.end()) {
    co_return ports::Refused{ports::RefusalKind::other, "no key for this account"};
  }
  ++signatures_;
  co_return sign_as(account, digest);
}

}  // namespace holdfast::sim
