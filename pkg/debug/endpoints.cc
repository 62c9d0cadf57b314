#include "pkg/debug/endpoints.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <list>
#include <memory>

#include "pkg/base/scheduler.h"

namespace debug {

// Single-threaded.
class Scrapes {
 public:
  // Whoever leaves, also by cancellation, wakes the first of those that wait.
  class Leave {
   public:
    explicit Leave(Scrapes& scrapes) : scrapes_(scrapes) {}
    ~Leave() {
      if (!scrapes_.waiting_.empty()) scrapes_.waiting_.front()->cancel();
    }
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;

   private:
    Scrapes& scrapes_;
  };

  // Returns when another scrape has left, possibly early.
  base::Task<void> WaitForAnother() {
    Waiter waiter(*this, co_await base::asio::this_coro::executor);
    co_await waiter.timer.async_wait(base::kTuple);
  }

 private:
  using Timer = base::asio::steady_timer;
  struct Waiter {
    Waiter(Scrapes& scrapes, const base::asio::any_io_executor& executor)
        : timer(executor, Timer::time_point::max()),
          waiting(scrapes.waiting_),
          place(waiting.insert(waiting.end(), &timer)) {}
    ~Waiter() { waiting.erase(place); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    Timer timer;
    std::list<Timer*>& waiting;
    std::list<Timer*>::iterator place;
  };
  std::list<Timer*> waiting_;
};

std::shared_ptr<Scrapes> Endpoints::NewScrapes() { return std::make_shared<Scrapes>(); }

namespace {

constexpr std::string_view kMetricsPath = "/metrics";

http::Response PlainText(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"}},
          .body = std::move(body)};
}

http::Response Exposed(std::string text) {
  return {.status = 200,
          .headers = {{"Content-Type", std::string(metrics::kTextFormat)}},
          .body = std::move(text)};
}

// Only one exposition at a time. Between steps other coroutines run, so that a large scrape does
// not delay reviews.
base::Task<http::Response> Metrics(metrics::Registry& registry, std::shared_ptr<Scrapes> scrapes) {
  const Scrapes::Leave leave(*scrapes);
  std::unique_ptr<metrics::Registry::Exposition> exposition = registry.TryExpose();
  for (; exposition == nullptr; exposition = registry.TryExpose()) {
    co_await scrapes->WaitForAnother();
  }
  while (exposition->Step()) co_await base::NextTurn();
  co_return Exposed(exposition->Text());
}

// Returns the bearer token; "" if there is none.
std::string TokenOf(const http::Headers& headers) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view value = headers.Get("Authorization");
  if (value.size() <= kScheme.size()) return "";
  // The name of a scheme is case-insensitive.
  const bool bearer = std::equal(kScheme.begin(), kScheme.end(), value.begin(),
                                 [](char a, char b) { return a == (b | 0x20); });
  const std::size_t token = value.find_first_not_of(' ', kScheme.size() - 1);
  return bearer && token != std::string_view::npos ? std::string(value.substr(token)) : "";
}

http::Response Refusal(const base::Error& error) {
  if (error.Is(base::ErrorCode::kUnauthorized)) {
    http::Response response = PlainText(401, "401 unauthorized\n");
    response.headers.Set("WWW-Authenticate", "Bearer");
    return response;
  }
  if (error.Is(base::ErrorCode::kForbidden)) return PlainText(403, "403 " + error.message + "\n");
  const int status = error.Is(base::ErrorCode::kTooManyRequests) ? 429 : 503;
  http::Response response =
      PlainText(status, std::to_string(status) + " access could not be reviewed, try again\n");
  if (status == 429) response.headers.Set("Retry-After", "1");
  return response;
}

bool IsMetrics(const Endpoints& endpoints, const http::Target& target) {
  return endpoints.metrics != nullptr && target.segments.size() == 1 &&
         target.segments[0] == kMetricsPath.substr(1);
}

bool IsGuarded(const Endpoints& endpoints, const http::Request& request) {
  if (!endpoints.guard) return false;
  const auto target = http::ParseTarget(request.target);
  return target && IsMetrics(endpoints, *target);
}

}  // namespace

base::Task<http::Response> Answer(Endpoints endpoints, http::Request request) {
  const base::Result<http::Target> target = http::ParseTarget(request.target);
  if (!target) co_return PlainText(400, target.error().message + "\n");
  const bool health = endpoints.health != nullptr && endpoints.health->Handles(*target);
  const bool metrics = IsMetrics(endpoints, *target);
  if (!health && !metrics) co_return PlainText(404, "404 page not found\n");
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response response = PlainText(405, "405 method not allowed\n");
    response.headers.Set("Allow", "GET, HEAD");
    co_return response;
  }
  if (health) co_return endpoints.health->Answer(*target);
  co_return co_await Metrics(*endpoints.metrics, endpoints.scrapes);
}

http::Handler NewHandler(Endpoints endpoints) {
  return [endpoints = std::move(endpoints)](http::Request request, http::Peer peer,
                                            http::ResponseWriter& writer) -> base::Task<void> {
    if (IsGuarded(endpoints, request)) {
      std::string token = TokenOf(request.headers);
      std::string address = peer.address.substr(0, peer.address.rfind(':'));
      const auto let_in =
          co_await endpoints.guard(std::move(token), std::string(kMetricsPath), std::move(address));
      if (!let_in) {
        http::Response refusal = Refusal(let_in.error());
        (void)co_await writer.Send(std::move(refusal));
        co_return;
      }
    }
    http::Response response = co_await Answer(endpoints, std::move(request));
    // A client that disconnected meanwhile needs no answer.
    (void)co_await writer.Send(std::move(response));
  };
}

}  // namespace debug
