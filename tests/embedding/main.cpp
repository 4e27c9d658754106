// holdfast inside a server that has its own io_context and threads: engine and store on a strand of
// it, twenty payments asked for over TCP, waited for from another thread, drained, counted in the
// chain's own books. Exit code 0 only if each of them moved exactly once.
#include <cstdio>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <holdfast/base/log.hpp>
#include <holdfast/engine/engine.hpp>

#include "parts.hpp"
#include "server.hpp"

namespace {

namespace asio = boost::asio;
namespace hf = holdfast;
using asio::ip::tcp;
using hf::engine::Engine;
using namespace line_server;

constexpr int payments = 20;
constexpr std::int64_t patience_ms = 30'000;

/// A client of the server: asks a line, reads a line.
class Client {
 public:
  Client(asio::io_context& context, const tcp::endpoint& server) : socket_(context) {
    socket_.connect(server);
  }
  std::string ask(const std::string& line) {
    asio::write(socket_, asio::buffer(line + '\n'));
    std::string answer;
    asio::read_until(socket_, asio::dynamic_buffer(answer), '\n');
    answer.pop_back();
    return answer;
  }

 private:
  tcp::socket socket_;
};

// Each line is sent twice, as clients do that got no answer: it stays one payment.
std::vector<hf::domain::IntentId> ask_for_payments(Client& client) {
  std::vector<hf::domain::IntentId> ids;
  for (int i = 1; i <= payments; ++i) {
    const std::string number = std::to_string(i);
    std::string line = "PAY shop-";
    line.append(number).append(" ").append(number).append(" order-").append(number);
    const std::string answer = client.ask(line);
    require(answer.starts_with("OK pi_") && client.ask(line) == answer, answer);
    ids.push_back(*hf::domain::intent_id_from(answer.substr(3, answer.rfind(' ') - 3)));
  }
  require(client.ask("PAY shop-1 1.5 order-x").starts_with("NO "), "1.5 is no amount");
  return ids;
}

// From this thread, which is none of the engine's, by way of futures.
std::vector<hf::domain::Intent> wait_until_settled(Engine& engine,
                                                   const std::vector<hf::domain::IntentId>& ids) {
  std::vector<hf::domain::Intent> out;
  for (const hf::domain::IntentId& id : ids) {
    auto waiting = engine.call(
        [id](Engine& e) {
          return e.wait(std::nullopt, id, hf::engine::WaitFor::settled, patience_ms);
        },
        asio::use_future);
    const auto intent = waiting.get();
    require(intent.has_value() && intent->state == hf::domain::IntentState::settled,
            hf::domain::text(id) + " is not settled");
    out.push_back(*intent);
  }
  return out;
}

void check_books(const ToyChain& chain, const std::vector<hf::domain::Intent>& intents) {
  hf::U256 left = 1'000'000;
  for (const hf::domain::Intent& intent : intents) {
    require(chain.times_moved(intent.ref) == 1, hf::domain::text(intent.id) + " moved not once");
    require(chain.balance(intent.terms.payee) == intent.terms.amount,
            intent.terms.payee.value + " holds another amount");
    left = *left.minus(intent.terms.amount);
  }
  require(chain.balance(till) == left, "the till holds another amount");
}

void run() {
  hf::log::set_sink([](hf::log::Level level, std::string_view line) {
    if (level < hf::log::Level::warn) return;
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  });
  const TempFolder folder;
  asio::io_context context;
  Payments parts(asio::make_strand(context), folder / "payments.db");
  tcp::acceptor acceptor(asio::make_strand(context), {asio::ip::address_v4::loopback(), 0});

  Threads threads(context, 2);

  parts.engine.call([](Engine& engine) { return engine.start(); }, asio::use_future).get();
  auto serving =
      asio::co_spawn(acceptor.get_executor(), serve(acceptor, parts.engine), asio::use_future);

  std::vector<hf::domain::Intent> settled;
  {
    Client client(context, acceptor.local_endpoint());
    const auto ids = ask_for_payments(client);
    settled = wait_until_settled(parts.engine, ids);
    for (const hf::domain::IntentId& id : ids) {
      require(client.ask("STATE " + hf::domain::text(id)) == "OK settled", "STATE");
    }
  }

  // Take nothing new, let the engine finish what it has in hand, then let the threads go.
  asio::post(acceptor.get_executor(), [&acceptor] { acceptor.close(); });
  serving.get();
  const std::size_t cut_short =
      parts.engine.call([](Engine& engine) { return engine.drain(patience_ms); }, asio::use_future)
          .get();
  require(cut_short == 0, "the drain cut something short");
  threads.finish();

  check_books(parts.chain, settled);
  std::printf("%zu payments settled, each moved once\n", settled.size());
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "line_server: %s\n", error.what());
    return 1;
  }
}
