#include "evm/http_rpc_hosts.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>

namespace holdfast::evm {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::size_t most_addresses = 16;

/// The system's resolver (getaddrinfo on a thread of Asio's). The context joins that thread when it
/// goes, which is why nothing else may wait for it.
Lookup system_lookup(asio::any_io_executor executor) {
  return [executor = std::move(executor)](std::string host, AddressesFound found) {
    auto resolver = std::make_shared<tcp::resolver>(executor);
    resolver->async_resolve(
        host, "",
        [resolver, found = std::move(found)](boost::system::error_code error,
                                             const tcp::resolver::results_type& results) {
          std::vector<std::string> addresses;
          if (!error) {
            for (const auto& entry : results) {
              addresses.push_back(entry.endpoint().address().to_string());
            }
          }
          found(std::move(addresses));
        });
  };
}

}  // namespace

HostAddresses::HostAddresses(asio::any_io_executor executor, ports::Clock& clock, std::string host,
                             std::uint16_t port, Lookup lookup)
    : clock_(clock), host_(std::move(host)), port_(port), lookup_(std::move(lookup)) {
  boost::system::error_code not_an_address;
  const auto address = asio::ip::make_address(host_, not_an_address);
  if (!not_an_address) {
    fixed_ = true;
    known_.emplace_back(address, port_);
  } else if (!lookup_) {
    lookup_ = system_lookup(std::move(executor));
  }
}

asio::awaitable<HostAddresses::Addresses> HostAddresses::get(std::shared_ptr<HostAddresses> self) {
  if (self->fixed_) co_return self->known_;
  const bool old = self->clock_.mono_ms() - self->known_since_ms_ >= kept_ms;
  if ((self->known_.empty() || old) && !self->looking_) self->look_up();
  // Only a look-up under way is waited for: one that has just answered without waiting has said
  // all there is.
  if (self->known_.empty() && self->looking_) {
    ports::Waiter waiter;
    co_await waiter.park(self->waiting_);
  }
  co_return self->known_;
}

void HostAddresses::failed(const tcp::endpoint& address) {
  const auto at = std::ranges::find(known_, address);
  if (at != known_.end()) std::rotate(at, at + 1, known_.end());
}

void HostAddresses::worked(const tcp::endpoint& address) {
  const auto at = std::ranges::find(known_, address);
  if (at != known_.end()) std::rotate(known_.begin(), at, at + 1);
}

void HostAddresses::look_up() {
  looking_ = true;
  lookup_(host_, [self = weak_from_this()](const std::vector<std::string>& addresses) {
    if (const auto alive = self.lock()) alive->found(addresses);
  });
}

void HostAddresses::found(const std::vector<std::string>& addresses) {
  looking_ = false;
  Addresses fresh;
  for (const std::string& text : addresses) {
    boost::system::error_code error;
    const auto address = asio::ip::make_address(text, error);
    const tcp::endpoint endpoint(address, port_);
    const bool again = std::ranges::find(fresh, endpoint) != fresh.end();
    if (!error && !again && fresh.size() < most_addresses) fresh.push_back(endpoint);
  }
  // A name server that is down is no reason to forget where the endpoint is.
  if (!fresh.empty()) {
    known_ = std::move(fresh);
    known_since_ms_ = clock_.mono_ms();
  }
  waiting_.wake_all();
}

}  // namespace holdfast::evm
