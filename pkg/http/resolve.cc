#include "pkg/http/resolve.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "pkg/base/asio.h"

namespace http {
namespace {

namespace asio = boost::asio;

struct LookUp {
  explicit LookUp(const asio::any_io_executor& executor) : resolver(executor), wake(executor) {}
  Tcp::resolver resolver;
  asio::steady_timer wake;
  bool done = false;
  boost::system::error_code error;
  std::vector<Tcp::endpoint> found;
};

}  // namespace

base::Task<base::Result<std::vector<Tcp::endpoint>>> Resolve(std::string host, std::uint16_t port,
                                                             base::TimePoint deadline) {
  boost::system::error_code not_an_address;
  const asio::ip::address address = asio::ip::make_address(host, not_an_address);
  if (!not_an_address) co_return std::vector<Tcp::endpoint>(1, Tcp::endpoint(address, port));

  const std::string what = "look up " + host + ":" + std::to_string(port);
  const auto executor = co_await asio::this_coro::executor;
  // Shared with the handler, which may run after this coroutine has timed out.
  const auto look_up = std::make_shared<LookUp>(executor);
  look_up->wake.expires_at(deadline);
  look_up->resolver.async_resolve(
      host, std::to_string(port), Tcp::resolver::numeric_service,
      [look_up](const boost::system::error_code& error, const Tcp::resolver::results_type& found) {
        look_up->done = true;
        look_up->error = error;
        for (const auto& entry : found) look_up->found.push_back(entry.endpoint());
        look_up->wake.cancel();
      });
  co_await look_up->wake.async_wait(base::kTuple);
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    co_return base::Error{.code = base::ErrorCode::kCancelled, .message = what};
  }
  if (!look_up->done) {
    co_return base::Error{.code = base::ErrorCode::kTimeout, .message = what + ": timed out"};
  }
  if (look_up->error || look_up->found.empty()) {
    const std::string why = look_up->error ? look_up->error.message() : "no address";
    co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = what + ": " + why};
  }
  co_return std::move(look_up->found);
}

}  // namespace http
