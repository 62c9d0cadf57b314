// Objects that are as large, and have as many names, as a server accepts.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/process.h"

namespace e2e::large_objects_test {
namespace {

constexpr int kNames = 18'000;
constexpr int kPods = 30;

std::string NameOf(int number) {
  std::string text = std::to_string(number);
  return "a.io/r" + std::string(5 - text.size(), '0') + text;
}

json::Value PodOfManyNames(const std::string& name) {
  std::vector<json::Member> limits;
  limits.reserve(kNames);
  for (int i = 0; i < kNames; ++i) limits.emplace_back(NameOf(i), "1");
  json::Value pod = Pod(name);
  // Requests of extended resources are their limits.
  pod.Make({"spec", "containers"}).AsArray()->front().Make({"resources", "limits"}) =
      json::Object::FromMembers(std::move(limits));
  return pod;
}

}  // namespace

TEST_CASE("large objects: events of a pod with 18 000 names refuse nobody",
          "[e2e][admission][large-objects][real-only]") {
  Admission a;
  const std::string other = FreshName("many-names");
  a.api().Create(PathOf("namespaces"), Namespace(other));
  const std::string limited = "requests." + NameOf(7);
  a.api().Create(PathOf("resourcequotas", other), Quota("q", {{"pods", "9"}, {limited, "9"}}));
  a.Limit("q", {{"pods", "100"}});
  const std::string many = PathOf("pods", other, "many");
  a.api().Create(PathOf("pods", other), PodOfManyNames("many"));

  std::atomic<bool> done = false;
  const std::string kubeconfig = a.scenario().server().Kubeconfig();
  auto patches = std::async(std::launch::async, [&] {
    Api api(kubeconfig);
    int number = 0;
    for (; !done; ++number) {
      api.MergePatch(many,
                     Json(R"({"metadata":{"labels":{"n":")" + std::to_string(number) + "\"}}}"));
    }
    return number;
  });
  std::vector<Attempt> failed;
  for (int i = 0; i < kPods; ++i) {
    const Attempt attempt = a.Post("pods", Pod("p" + std::to_string(i)));
    if (!attempt.ok()) failed.push_back(attempt);
  }
  done = true;
  CHECK(patches.get() > 0);
  INFO((failed.empty() ? "" : failed.front().Text()));
  CHECK(failed.empty());
  a.scenario().WaitUsed("q", {{"pods", std::to_string(kPods)}});

  const auto used = [&](const Quantities& expected) {
    Eventually("the pod is counted under its names", [&] {
      const json::Value quota = a.api().Get(PathOf("resourcequotas", other, "q"));
      const Quantities is = ToQuantities(quota.At({"status", "used"}));
      return is == expected ? "" : "used is " + ToText(is);
    });
  };
  used({{"pods", "1"}, {limited, "1"}});
  // A name that the daemon has not kept, because no quota limited it.
  const std::string later = "requests." + NameOf(kNames - 1);
  a.api().MergePatch(PathOf("resourcequotas", other, "q"), HardPatch({{later, "9"}}));
  used({{"pods", "1"}, {limited, "1"}, {later, "1"}});
}

TEST_CASE("large objects: memory does not follow what no quota limits",
          "[e2e][admission][large-objects][real-only]") {
  constexpr int kHuge = 16;
  constexpr int kClaims = 150;
  constexpr std::size_t kClassBytes = 250'000;
  constexpr long kMostGrowth = 15'000'000;
  Admission a;
  a.Limit("q", {{"pods", "100"}, {"requests.storage", "1Ti"}});
  const long before = UsageOf(a.daemon().pid()).resident_bytes;
  for (int i = 0; i < kHuge; ++i) {
    const Attempt attempt = a.Post("pods", PodOfManyNames("many" + std::to_string(i)));
    INFO(attempt.Text());
    REQUIRE(attempt.ok());
  }
  for (int i = 0; i < kClaims; ++i) {
    json::Value claim = Claim("long" + std::to_string(i), "1Gi");
    claim.Make({"metadata", "annotations"}) =
        json::Object{{"volume.beta.kubernetes.io/storage-class",
                      std::string(kClassBytes, 's') + std::to_string(i)}};
    const Attempt attempt = a.Post("persistentvolumeclaims", claim);
    INFO(attempt.Text());
    REQUIRE(attempt.ok());
  }
  a.scenario().WaitUsed("q", {{"pods", "16"}, {"requests.storage", "150Gi"}});
  const long after = UsageOf(a.daemon().pid()).resident_bytes;
  INFO("before " << before << " bytes, after " << after);
  CHECK(after - before <= kMostGrowth);
}

}  // namespace e2e::large_objects_test
