#pragma once

// TEST ONLY. An ApiClient that gives scripted answers in order, in virtual time. Every request and
// every read first lets other coroutines run, as with a network.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace fake {

// The answer to one request: a refusal, or the pieces of a body and how it ends.
struct Answer {
  struct Piece {
    std::string bytes;
    base::Duration after{};  // after the previous piece, or the headers
  };
  enum class End {
    kClean,   // the body ends regularly
    kBroken,  // the connection is lost
    kSilent,  // nothing more is sent
  };
  std::optional<base::Error> refused;
  std::vector<Piece> pieces;
  End end = End::kClean;
  base::Duration end_after{};
  base::Duration delay{};  // before the headers or the refusal

  static Answer Refuse(base::Error error);
  static Answer Refuse(base::ErrorCode code);
  static Answer Whole(std::string body);  // one piece, regular end
  // One piece, then nothing: a watch that stays open.
  static Answer Open(std::string body);
  Answer& EndingAfter(base::Duration after, End how = End::kClean);
};

class ScriptedClient final : public client::ApiClient {
 public:
  explicit ScriptedClient(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  // The answers to streamed lists, to watches, and to Do(), in order. If there are none left, a
  // watch stays open and silent, and everything else is refused (kUnavailable).
  void OnList(Answer answer) { lists_.push_back(std::move(answer)); }
  void OnWatch(Answer answer) { watches_.push_back(std::move(answer)); }
  void OnDo(Answer answer) { calls_.push_back(std::move(answer)); }
  // The answers to Do() that nobody asked for.
  void ForgetAnswers() { calls_.clear(); }

  struct Seen {
    client::ApiRequest request;
    base::TimePoint at;
    // The value of a query parameter; "" if absent.
    [[nodiscard]] std::string Query(std::string_view name) const;
  };
  std::vector<Seen> lists;
  std::vector<Seen> probes;  // lists of one object to learn the version, answered with `current`
  std::vector<Seen> watches;
  std::vector<Seen> calls;
  std::string current = "1000000";
  std::function<void()> while_probed;  // called before that answer; may be null
  int open_bodies = 0;                 // streams not yet destroyed

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override;

 private:
  base::Scheduler& scheduler_;
  std::deque<Answer> lists_;
  std::deque<Answer> watches_;
  std::deque<Answer> calls_;
};

}  // namespace fake
