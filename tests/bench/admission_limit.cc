// Creations and deletions at the limit, with a watch that sees the stored objects at every moment.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "tests/bench/admission_questions.h"
#include "tests/bench/filler.h"
#include "tests/bench/guarded_server.h"
#include "tests/e2e/harness/watch_follower.h"

namespace bench {
namespace {

constexpr std::size_t kLimitClients = 64;
constexpr int kCreations = 3000;
constexpr int kLimit = 50;

// The current and the highest number of stored pods.
class StoredPods {
 public:
  StoredPods(GuardedServer& server, const std::string& version)
      : follower_(server.Kubeconfig(), server.PodPath(), version,
                  [this](const std::string& type, const json::Value& pod) {
                    Count(type, std::string(pod.StringAt({"metadata", "name"})));
                  }) {}

  [[nodiscard]] std::size_t highest() const { return highest_; }

 private:
  void Count(const std::string& type, const std::string& name) {
    if (type == "ADDED") names_.insert(name);
    if (type == "DELETED") names_.erase(name);
    highest_ = std::max(highest_.load(), names_.size());
  }

  std::set<std::string> names_;  // owned by the follower's thread
  std::atomic<std::size_t> highest_{0};
  e2e::WatchFollower follower_;
};

// The two halves take turns.
std::string PodOfHalf(int index) {
  json::Value pod = e2e::Json(PodJson(index));
  pod.Make({"metadata", "labels", "half"}) =
      GuardedServer::kHalves[static_cast<std::size_t>(index) % GuardedServer::kHalves.size()];
  return json::Write(pod);
}

struct AtLimit {
  Tally tally;  // of the creations
  std::size_t highest = 0;
  std::string used;  // once everything is over and counted; "0" is right
};

// Each client creates pods and deletes those that it created, until all creations are done.
AtLimit Measure(GuardedServer& server) {
  const StoredPods stored(server, server.QuotaVersion());
  Load load(server.Kubeconfig(), kLimitClients);
  int next = 0;
  AtLimit measured;
  const auto work = [&](Load::Client& client) -> base::Task<void> {
    while (next < kCreations) {
      const int index = next++;
      client::ApiRequest create{.verb = "POST",
                                .path = server.PodPath(),
                                .content_type = std::string(client::kJson),
                                .body = PodOfHalf(index)};
      const bool created = co_await client.Count(std::move(create));
      if (!created) continue;
      client::ApiRequest remove{.verb = "DELETE",
                                .path = server.PodPath("p" + std::to_string(index)),
                                .query = {{"gracePeriodSeconds", "0"}}};
      co_await client.Must(std::move(remove));
    }
  };
  measured.tally = load.Run(work);
  (void)server.SecondsUntilUsed(0, std::chrono::seconds(30));
  measured.used = server.UsedPods();
  measured.highest = stored.highest();
  return measured;
}

void Print(Guard guard, const AtLimit& measured) {
  const Tally& tally = measured.tally;
  const auto times = [&](const std::string& reason) {
    const auto found = tally.failures.find(reason);
    return found == tally.failures.end() ? 0 : found->second;
  };
  const int by_quota = times("exceeded quota");
  std::string others;
  for (const auto& [reason, number] : tally.failures) {
    if (reason == "exceeded quota") continue;
    others += (others.empty() ? "" : ", ") + std::to_string(number) + " × " + reason;
  }
  std::printf("| %s | %d | %d | %d%s | %zu | %s | %.0f |\n", NameOf(guard).c_str(), tally.succeeded,
              by_quota, tally.Failed() - by_quota,
              others.empty() ? "" : (" (" + others + ")").c_str(), measured.highest,
              measured.used.c_str(), tally.PerSecond());
  std::fflush(stdout);
}

void Ask(const std::vector<Guard>& guards) {
  std::printf(
      "\n%zu clients create and delete at a limit of %d pods, %d creations:\n\n"
      "| guarded by | created | refused by the quota | failed otherwise | most stored at a time | "
      "`used` 30 s later | created/s |\n|---|---|---|---|---|---|---|\n",
      kLimitClients, kLimit, kCreations);
  for (const Guard guard : guards) {
    std::cerr << "limit: " << NameOf(guard) << " ...\n";
    const std::string limit = std::to_string(kLimit);
    // With only "pods", a pod that is being deleted without grace would be released a moment before
    // it is gone.
    GuardedServer server(guard, {{"pods", limit}, {"count/pods", limit}});
    Print(guard, Measure(server));
  }
}

}  // namespace

void AskLimit() { Ask({Guard::kBuiltin, Guard::kDaemon}); }
void AskTwoDaemons() { Ask({Guard::kTwoDaemons}); }

}  // namespace bench
