#pragma once

// Faults on demand, which a real API server does not offer. POST one JSON object, or an array, to
// /sandbox/faults:
//
//   {"fault":"answer","verb":"patch","resource":"resourcequotas","subresource":"status",
//    "code":409,"times":3}                                  the next three get 409
//   {"fault":"answer","code":429,"retryAfterSeconds":1,"verb":"watch"}
//   {"fault":"slow-body","resource":"pods","verb":"list","delay":"20ms","bytes":64}
//   {"fault":"truncate-body","resource":"pods","verb":"list","bytes":100}
//   {"fault":"replace-body","body":"<html>busy</html>","contentType":"text/html"}
//   {"fault":"drop-watches","resource":"pods","reset":true}       now; false: a clean end
//   {"fault":"send-event","resource":"pods","type":"BOGUS"}       now, to each open watch; with
//          "bytes":2000000 the object is that large, with "code":500 it is a Status of that code,
//          with "raw":"…" these bytes are written as they stand
//   {"fault":"repeat-event","resource":"pods","by":1}             now: the last events once more
//   {"fault":"delay-watch","resource":"pods","delay":"500ms"}     until cleared or set to "0"
//   {"fault":"expire"}                                            now: older versions are gone
//   {"fault":"stale-group","group":"metrics.example.com","version":"v1"}   until cleared
//
// "stale-group" acts as if the server behind this group were away: discovery marks the group as
// stale, its requests are answered 503, and its watches end. `version` is needed for a group that
// nothing else serves; the default is v1.
//
// A fault applies only to requests with the given `verb`, `resource`, `group`, `subresource`,
// `namespace` and `name`; an absent member matches all. Faults with `times` (1 unless given, -1 for
// ever) wait for requests; the others act at once. GET lists the waiting faults, DELETE clears
// them. Values; one thread.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cmd/sandbox-apiserver/request_path.h"
#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace sandbox {

enum class FaultKind {
  kAnswer,
  kSlowBody,
  kTruncateBody,
  kReplaceBody,
  kDropWatches,
  kSendEvent,
  kRepeatEvent,
  kDelayWatch,
  kExpire,
  kStaleGroup,
};

// API groups whose server is away, with the version to report of a group that nothing else serves.
using StaleGroups = std::map<std::string, std::string, std::less<>>;

// The requests to which a fault applies; nullopt matches all.
struct RequestMatch {
  std::optional<std::string> verb;
  std::optional<std::string> group;
  std::optional<std::string> resource;
  std::optional<std::string> subresource;
  std::optional<std::string> ns;
  std::optional<std::string> name;

  [[nodiscard]] bool Matches(Verb of_verb, const ResourcePath& path) const;
  // Without the verb: for faults of open watches.
  [[nodiscard]] bool Matches(const ResourcePath& path) const;
};

struct Fault {
  FaultKind kind = FaultKind::kAnswer;
  RequestMatch requests;
  int times = 1;
  int code = 0;
  std::string reason;
  std::string message;
  int retry_after_seconds = 0;
  std::chrono::nanoseconds delay{0};
  std::size_t bytes = 0;
  std::string body;
  std::string content_type;
  std::string event_type;
  std::string version = "v1";
  bool reset = false;
  std::int64_t by = 0;

  // Waits for requests, instead of acting at once.
  [[nodiscard]] bool IsWaiting() const;
};

// Errors: kInvalidArgument, naming the member.
base::Result<Fault> ParseFault(const json::Value& value);
json::Value DescribeFault(const Fault& fault);

// The faults that wait, oldest first.
class FaultTable {
 public:
  void Add(Fault fault) { waiting_.push_back(std::move(fault)); }
  void AddStaleGroup(const Fault& fault) { stale_[*fault.requests.group] = fault.version; }
  void Clear() {
    waiting_.clear();
    stale_.clear();
  }
  // The oldest fault that matches this request. Its `times` is decremented.
  std::optional<Fault> Take(Verb verb, const ResourcePath& path);
  [[nodiscard]] const std::vector<Fault>& waiting() const { return waiting_; }
  [[nodiscard]] const StaleGroups& stale_groups() const { return stale_; }

 private:
  std::vector<Fault> waiting_;
  StaleGroups stale_;
};

}  // namespace sandbox
