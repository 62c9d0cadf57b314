// What do AppliedClusterQuotas cost? Prints the bytes of memory for each object, with 10 000
// namespaces below three quotas. Also prints the longest step of the plan while the objects are
// listed, while all of them are compared, and after a change of the root, which affects every
// namespace.
//
//   applied_bytes_per_object [namespaces]

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "controllers/applied/applied_plan.h"

namespace {

using controllers::AppliedPlan;

class Source final : public controllers::AppliedSource {
 public:
  [[nodiscard]] bool Synced() const override { return true; }
  [[nodiscard]] std::vector<std::string> QuotasOf(std::string_view ns) const override {
    return {"company", "department-" + std::string(1, ns.back()), "team-" + std::string(ns)};
  }
  [[nodiscard]] bool IsAbove(std::string_view /*ns*/, std::string_view quota) const override {
    return !quota.starts_with("team-");
  }
  [[nodiscard]] std::optional<controllers::AppliedContent> ContentOf(
      const std::string& /*ns*/, const std::string& quota) const override {
    controllers::AppliedContent content;
    content.uid = "00000000-0000-4000-8000-000000000000";
    content.parent = quota == "company" ? "" : "company";
    const std::int64_t used = quota == "company" ? company_used : 3;
    for (const char* name : {"pods", "requests.cpu", "requests.memory", "limits.memory"}) {
      content.status.hard.Set(name, quota::Quantity::FromInt(1000));
      content.status.used.Set(name, quota::Quantity::FromInt(used));
      content.in_namespace.Set(name, quota::Quantity::FromInt(1));
      content.available.Set(name, quota::Quantity::FromInt(997));
    }
    return content;
  }
  std::int64_t company_used = 3;
};

std::size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// CPU time: other programs do not count.
double CpuMicros() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// The longest of some steps, and all of them together.
struct Steps {
  template <typename Step>
  auto Time(Step step) {
    const double began = CpuMicros();
    auto result = step();
    const double took = CpuMicros() - began;
    longest = std::max(longest, took);
    total += took;
    return result;
  }
  void Print(const char* what) const {
    std::printf("  %-28s %8.1f ms, longest step %6.0f us\n", what, total / 1000, longest);
  }
  double longest = 0;
  double total = 0;
};

// Runs the plan until all remaining work waits for a later time. Returns the number of writes.
std::size_t Settle(AppliedPlan& plan, base::ManualClock& clock, Steps& steps) {
  std::size_t writes = 0;
  const base::TimePoint end = clock.Now() + std::chrono::minutes(60);
  while (true) {
    const AppliedPlan::Next next = steps.Time([&] { return plan.Decide(); });
    if (next.write) {
      ++writes;
      steps.Time([&] {
        plan.OnWritten(*next.write, "2000000");
        return true;
      });
    } else if (next.again > end) {
      return writes;
    } else if (next.again > clock.Now()) {
      clock.Set(next.again);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t namespaces = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  base::ManualClock clock;
  Source source;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < namespaces; ++i) names.push_back("space-" + std::to_string(i));
  const std::size_t before = AllocatedBytes();
  AppliedPlan plan(clock, source);
  std::printf("%zu namespaces, 3 quotas each\n", namespaces);
  std::ranges::sort(names);
  Steps reach;
  reach.Time([&] {
    for (const std::string& ns : names) plan.OnReachOf(ns);
    return true;
  });
  reach.Print("reached at once");
  Steps list;
  plan.BeginList();
  for (const std::string& ns : names) {
    for (const std::string& quota : source.QuotasOf(ns)) {
      json::Value object = controllers::AppliedObject(ns, quota, *source.ContentOf(ns, quota));
      object.Make({"metadata", "resourceVersion"}) = "1234567";
      list.Time([&] { return plan.OnStored(object); });
    }
  }
  while (list.Time([&] { return plan.SweepSome(); })) continue;
  plan.EndList();
  list.Print("listed");
  const std::size_t queued = AllocatedBytes();
  Steps compare;
  std::size_t writes = Settle(plan, clock, compare);
  compare.Print("compared");
  std::printf("  %zu writes\n", writes);
  const std::size_t after = AllocatedBytes();
  const double objects = 3.0 * static_cast<double>(namespaces);
  std::printf("  %.0f bytes an object at rest, %.0f while all wait to be compared\n",
              static_cast<double>(after - before) / objects,
              static_cast<double>(queued - before) / objects);
  source.company_used = 4;
  plan.OnClusterQuota("company");
  Steps change;
  writes = Settle(plan, clock, change);
  change.Print("a change of the root");
  std::printf("  %zu writes\n", writes);
  return 0;
}
