// Bytes from a client's connection as one HTTP request. However they are cut on their way, they are
// read as the same request, or refused.
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "fuzz/input.hpp"
#include "http/read_message.hpp"
#include "sim/world.hpp"

namespace holdfast {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Parser = beast::http::request_parser<beast::http::string_body>;

/// A connection that gives its bytes so many at a time, and then ends.
class Pieces {
 public:
  using executor_type = asio::any_io_executor;
  Pieces(executor_type executor, std::string_view bytes, std::size_t step)
      : executor_(std::move(executor)), rest_(bytes), step_(step) {}
  executor_type get_executor() const { return executor_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          const std::size_t count = asio::buffer_copy(into, asio::buffer(rest_.substr(0, step_)));
          rest_.remove_prefix(count);
          const error_code error = count == 0 ? asio::error::eof : error_code();
          asio::post(executor_, [handler = std::move(handler), error, count]() mutable {
            std::move(handler)(error, count);
          });
        },
        token, buffers);
  }

 private:
  executor_type executor_;
  std::string_view rest_;
  std::size_t step_;
};

/// All of it but `refused` is empty in a request that was refused: why may depend on how it came.
struct Read {
  bool refused = false;
  std::string method;
  std::string target;
  std::string body;
  std::size_t fields = 0;
  bool keep_alive = false;

  bool operator==(const Read&) const = default;
};

constexpr std::uint64_t body_limit = 512;

Read read_by(std::string_view bytes, std::size_t step) {
  sim::SimWorld world;
  Pieces connection(world.executor(), bytes, step);
  beast::flat_buffer buffer(65'536);
  Parser parser;
  parser.body_limit(body_limit);
  Read out;
  out.refused = world.run(http::read_message(connection, buffer, parser)).failed();
  if (out.refused) return out;
  auto& message = parser.get();
  out.method = message.method_string();
  out.target = message.target();
  out.keep_alive = parser.keep_alive();
  out.fields = static_cast<std::size_t>(std::distance(message.begin(), message.end()));
  out.body = std::move(message.body());
  return out;
}

}  // namespace
}  // namespace holdfast

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view bytes = as_text({data, size});
  const Read whole = read_by(bytes, std::max<std::size_t>(size, 1));
  ensure(whole.body.size() <= body_limit, "a body is bounded");
  ensure(read_by(bytes, 1) == whole, "a request is the same however it is cut");
  return 0;
}
