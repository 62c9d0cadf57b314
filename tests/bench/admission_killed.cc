// Kills the component that counts (the daemon, or the built-in controller) while pods are deleted.
// After the restart, the daemon must find reservations and deletions by lists alone.

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "tests/bench/admission_questions.h"
#include "tests/bench/filler.h"
#include "tests/bench/guarded_server.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/wait.h"

namespace bench {
namespace {

constexpr int kCreated = 400;
constexpr int kDeletedBefore = 100;  // before the kill, and as many after it
constexpr int kTurns = 5;
constexpr std::size_t kDeleters = 8;
constexpr double kMostSeconds = 2;  // of ours
constexpr std::chrono::seconds kSettles{3};
constexpr std::chrono::seconds kPatient{60};

void CreateThem(GuardedServer& server) {
  Load load(server.Kubeconfig(), kDeleters);
  int next = 0;
  load.SendAll([&]() -> client::ApiRequest {
    if (next == kCreated) return {.path = ""};
    return {.verb = "POST",
            .path = server.PodPath(),
            .content_type = std::string(client::kJson),
            .body = PodJson(next++)};
  });
}

// Deletes kDeletedBefore pods, beginning with this one.
void Delete(GuardedServer& server, int first) {
  Load load(server.Kubeconfig(), kDeleters);
  int next = first;
  load.SendAll([&]() -> client::ApiRequest {
    if (next == first + kDeletedBefore) return {.path = ""};
    return {.verb = "DELETE",
            .path = server.PodPath("p" + std::to_string(next++)),
            .query = {{"gracePeriodSeconds", "0"}}};
  });
}

// Seconds from the new start until `used` is right; nullopt: longer than kPatient.
std::optional<double> KillOnce(GuardedServer& server) {
  CreateThem(server);
  // Waits until the pods have no reservations. Otherwise an object that is deleted before the new
  // start would be freed only when its reservation ends, after 15 s.
  (void)e2e::PollUntil([] { return false; }, kSettles);
  Delete(server, 0);
  server.KillCounter();
  Delete(server, kDeletedBefore);
  server.StartCounter();
  const auto seconds = server.SecondsUntilUsed(kCreated - 2 * kDeletedBefore, kPatient);
  server.DeleteAllPods();
  return seconds;
}

}  // namespace

void AskKilled() {
  std::printf(
      "\nThe counter is killed while %d of %d pods are deleted, and restarted; medians of %d:"
      "\n\n| counted by | from the start until `used` is right, s | slowest, s |\n|---|---|---|\n",
      2 * kDeletedBefore, kCreated, kTurns);
  for (const Guard guard : {Guard::kBuiltin, Guard::kDaemon}) {
    std::cerr << "killed: " << NameOf(guard) << " ...\n";
    GuardedServer server(guard);
    std::vector<double> took;
    for (int i = 0; i < kTurns; ++i) {
      took.push_back(KillOnce(server).value_or(kPatient.count()));
      std::cerr << "killed: " << took.back() << " s\n";
    }
    const double slowest = *std::max_element(took.begin(), took.end());
    const bool ours = guard == Guard::kDaemon;
    const std::string judged =
        ours ? AtMost(slowest, kMostSeconds, 2) : std::to_string(slowest).substr(0, 4);
    std::printf("| %s | %.2f | %s |\n", NameOf(guard).c_str(), Median(took), judged.c_str());
    std::fflush(stdout);
  }
}

}  // namespace bench
