// Requests that must leave no trace: updates that cannot change usage, and creations that were
// admitted but not stored.

#include <cstdio>
#include <iostream>

#include "tests/bench/admission_questions.h"
#include "tests/bench/filler.h"
#include "tests/bench/guarded_server.h"
#include "tests/e2e/harness/wait.h"
#include "tests/e2e/harness/write_recorder.h"

namespace bench {
namespace {

constexpr int kPods = 100;
constexpr int kUpdates = 1000;
constexpr int kTaken = 20;
constexpr std::size_t kTraceClients = 8;
constexpr std::chrono::seconds kWatched{40};

void Create(GuardedServer& server, int pods) {
  Load load(server.Kubeconfig(), kTraceClients);
  int next = 0;
  load.SendAll([&]() -> client::ApiRequest {
    if (next == pods) return {.path = ""};
    return {.verb = "POST",
            .path = server.PodPath(),
            .content_type = std::string(client::kJson),
            .body = PodJson(next++)};
  });
}

// Patches the pods in turn, each time with another number in place of '#'.
Tally Patch(GuardedServer& server, const std::string& subresource, const std::string& patch) {
  Load load(server.Kubeconfig(), kTraceClients);
  int next = 0;
  return load.SendAll([&]() -> client::ApiRequest {
    if (next == kUpdates) return {.path = ""};
    std::string body = patch;
    body.replace(body.find('#'), 1, std::to_string(next));
    return {.verb = "PATCH",
            .path = server.PodPath("p" + std::to_string(next++ % kPods), subresource),
            .content_type = std::string(client::kMergePatch),
            .body = std::move(body)};
  });
}

void PrintPatches(GuardedServer& server, const char* what, const std::string& subresource,
                  const std::string& patch) {
  const e2e::WriteRecorder recorder(server.Kubeconfig(), GuardedServer::kNamespace,
                                    server.QuotaVersion());
  const double reviews = server.ReviewsDecided();
  const Tally tally = Patch(server, subresource, patch);
  // Counts late writes, too.
  (void)e2e::PollUntil([] { return false; }, std::chrono::seconds(2));
  std::printf("| %d %s | %d | %.0f | %d |\n", kUpdates, what, tally.Failed(),
              server.ReviewsDecided() - reviews, recorder.Writes(GuardedServer::kQuota));
  std::fflush(stdout);
}

}  // namespace

void AskQuietUpdates() {
  std::cerr << "quiet: " << NameOf(Guard::kDaemon) << " ...\n";
  GuardedServer server(Guard::kDaemon);
  Create(server, kPods);
  // Waits until the charges of the creations have expired.
  (void)e2e::PollUntil([] { return false; }, std::chrono::seconds(12));
  std::printf("\n| updates of %d pods | failed | reviews | quota writes |\n|---|---|---|---|\n",
              kPods);
  PrintPatches(server, "label patches", "", R"({"metadata":{"labels":{"number":"#"}}})");
  PrintPatches(server, "status updates", "status", R"({"status":{"message":"number #"}})");
}

void AskRefusedByStore() {
  std::printf(
      "\n%d creations under a name that is taken:\n\n"
      "| guarded by | refused | `used` right again after, s |\n|---|---|---|\n",
      kTaken);
  for (const Guard guard : {Guard::kBuiltin, Guard::kDaemon}) {
    std::cerr << "leak: " << NameOf(guard) << " ...\n";
    GuardedServer server(guard);
    Create(server, 1);
    Load load(server.Kubeconfig(), kTraceClients);
    int left = kTaken;
    const Tally tally = load.SendAll([&]() -> client::ApiRequest {
      if (left == 0) return {.path = ""};
      --left;
      return {.verb = "POST",
              .path = server.PodPath(),
              .content_type = std::string(client::kJson),
              .body = PodJson(0)};
    });
    const auto seconds = server.SecondsUntilUsed(1, kWatched);
    const std::string again =
        seconds ? std::to_string(*seconds).substr(0, 4)
                : "not within " + std::to_string(kWatched.count()) + ": " + server.UsedPods();
    std::printf("| %s | %d | %s |\n", NameOf(guard).c_str(), tally.Failed(), again.c_str());
    std::fflush(stdout);
  }
}

}  // namespace bench
