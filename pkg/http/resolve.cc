#include "pkg/http/resolve.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <list>

#include "pkg/base/asio.h"

namespace http {
namespace {

namespace asio = boost::asio;

}  // namespace

// Shared by its callers and the handler, which may run after all callers have timed out.
struct Resolver::LookUp {
  explicit LookUp(const asio::any_io_executor& executor) : resolver(executor) {}
  Tcp::resolver resolver;
  std::list<asio::steady_timer*> waiting;  // cancelled at the end
  bool done = false;
  boost::system::error_code error;
  std::vector<Tcp::endpoint> found;
};

// Returns the look-up that runs now, or a new one.
std::shared_ptr<Resolver::LookUp> Resolver::Join(const asio::any_io_executor& executor) {
  std::shared_ptr<LookUp> look_up = running_.lock();
  if (look_up && !look_up->done) return look_up;
  look_up = std::make_shared<LookUp>(executor);
  running_ = look_up;
  look_up->resolver.async_resolve(
      host_, std::to_string(port_), Tcp::resolver::numeric_service,
      [look_up](const boost::system::error_code& error, const Tcp::resolver::results_type& found) {
        look_up->done = true;
        look_up->error = error;
        for (const auto& entry : found) look_up->found.push_back(entry.endpoint());
        for (asio::steady_timer* wake : look_up->waiting) wake->cancel();
      });
  return look_up;
}

base::Task<base::Result<std::vector<Tcp::endpoint>>> Resolver::Resolve(base::TimePoint deadline) {
  boost::system::error_code not_an_address;
  const asio::ip::address address = asio::ip::make_address(host_, not_an_address);
  if (!not_an_address) co_return std::vector<Tcp::endpoint>(1, Tcp::endpoint(address, port_));

  const std::string what = "look up " + host_ + ":" + std::to_string(port_);
  const auto executor = co_await asio::this_coro::executor;
  const std::shared_ptr<LookUp> look_up = Join(executor);
  asio::steady_timer wake(executor, deadline);
  const auto place = look_up->waiting.insert(look_up->waiting.end(), &wake);
  co_await wake.async_wait(base::kTuple);
  look_up->waiting.erase(place);
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
  co_return look_up->found;
}

}  // namespace http
