#include "tests/fake/scripted_client.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fake {
namespace {

using base::Error;
using base::ErrorCode;
using Bytes = std::optional<std::string>;

Answer Next(std::deque<Answer>& queue, Answer otherwise) {
  if (queue.empty()) return otherwise;
  Answer answer = std::move(queue.front());
  queue.pop_front();
  return answer;
}

// Waits until `deadline`; returns an error if the caller was cancelled meanwhile.
base::Task<std::optional<Error>> WaitUntil(base::Scheduler& scheduler, base::TimePoint deadline) {
  co_await base::asio::post(base::asio::use_awaitable);
  bool stopping = co_await base::Stopping();
  if (!stopping && deadline > scheduler.Now()) {
    const auto alarm = scheduler.NewAlarm();
    co_await alarm->WaitUntil(deadline);
    stopping = co_await base::Stopping();
  }
  if (!stopping) co_return std::nullopt;
  co_return Error{.code = ErrorCode::kCancelled, .message = "cancelled"};
}

class ScriptedBody final : public http::BodyStream {
 public:
  ScriptedBody(base::Scheduler& scheduler, Answer answer, int& open)
      : scheduler_(scheduler), answer_(std::move(answer)), since_(scheduler.Now()), open_(open) {
    ++open_;
  }
  ~ScriptedBody() override { --open_; }

  base::Task<base::Result<Bytes>> Read(std::chrono::milliseconds timeout) override {
    const base::TimePoint limit = scheduler_.Now() + timeout;
    const base::TimePoint ready = NextAt();
    const std::optional<Error> stopped = co_await WaitUntil(scheduler_, std::min(limit, ready));
    if (stopped) co_return *stopped;
    if (ready > limit) {
      co_return Error{.code = ErrorCode::kTimeout, .message = "no byte for too long"};
    }
    since_ = scheduler_.Now();
    if (at_ < answer_.pieces.size()) co_return Bytes(answer_.pieces[at_++].bytes);
    if (answer_.end == Answer::End::kClean) co_return Bytes();
    co_return Error{.code = ErrorCode::kUnavailable, .message = "connection reset by peer"};
  }

 private:
  [[nodiscard]] base::TimePoint NextAt() const {
    if (at_ < answer_.pieces.size()) return since_ + answer_.pieces[at_].after;
    if (answer_.end == Answer::End::kSilent) return base::TimePoint::max();
    return since_ + answer_.end_after;
  }

  base::Scheduler& scheduler_;
  Answer answer_;
  base::TimePoint since_;
  std::size_t at_ = 0;
  int& open_;
};

}  // namespace

Answer Answer::Refuse(Error error) {
  Answer answer;
  answer.refused = std::move(error);
  return answer;
}

Answer Answer::Refuse(ErrorCode code) {
  return Refuse(Error{.code = code, .message = "scripted " + std::string(ToString(code))});
}

Answer Answer::Whole(std::string body) {
  Answer answer;
  answer.pieces.push_back({std::move(body), {}});
  return answer;
}

Answer Answer::Open(std::string body) {
  Answer answer = Whole(std::move(body));
  answer.end = End::kSilent;
  return answer;
}

Answer& Answer::EndingAfter(base::Duration after, End how) {
  end_after = after;
  end = how;
  return *this;
}

std::string ScriptedClient::Seen::Query(std::string_view name) const {
  for (const auto& [key, value] : request.query) {
    if (key == name) return value;
  }
  return "";
}

base::Task<base::Result<client::ApiResponse>> ScriptedClient::Do(client::ApiRequest request) {
  calls.push_back({std::move(request), scheduler_.Now()});
  const Answer answer = Next(calls_, Answer::Refuse(ErrorCode::kUnavailable));
  const auto stopped = co_await WaitUntil(scheduler_, scheduler_.Now() + answer.delay);
  if (stopped) co_return *stopped;
  if (answer.refused) co_return *answer.refused;
  client::ApiResponse response;
  response.status = 200;
  for (const auto& piece : answer.pieces) response.body += piece.bytes;
  co_return response;
}

base::Task<base::Result<std::unique_ptr<http::BodyStream>>> ScriptedClient::Stream(
    client::ApiRequest request) {
  Seen seen{std::move(request), scheduler_.Now()};
  Answer answer;
  if (!seen.Query("watch").empty()) {
    watches.push_back(std::move(seen));
    Answer silence;
    silence.end = Answer::End::kSilent;
    answer = Next(watches_, std::move(silence));
  } else if (seen.Query("limit") == "1") {
    probes.push_back(std::move(seen));
    if (while_probed) while_probed();
    answer = Answer::Whole(R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":")" +
                           current + R"("},"items":[]})");
  } else {
    lists.push_back(std::move(seen));
    answer = Next(lists_, Answer::Refuse(ErrorCode::kUnavailable));
  }
  const auto stopped = co_await WaitUntil(scheduler_, scheduler_.Now() + answer.delay);
  if (stopped) co_return *stopped;
  if (answer.refused) co_return *answer.refused;
  std::unique_ptr<http::BodyStream> body =
      std::make_unique<ScriptedBody>(scheduler_, std::move(answer), open_bodies);
  co_return body;
}

}  // namespace fake
