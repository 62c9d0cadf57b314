#include "tests/bench/filler.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "tests/e2e/harness/objects.h"

namespace bench {
namespace {

constexpr int kWorkloads = 10;
constexpr int kAtOnce = 2000;
constexpr std::size_t kParallel = 48;

json::Value Container(const std::string& name, int size) {
  json::Value container;
  container.Make({"name"}) = name;
  container.Make({"image"}) =
      "registry.example.com/team/" + name + "@sha256:" + std::string(64, 'a');
  json::Array environment;
  for (int i = 0; i < 12; ++i) {
    json::Value variable;
    variable.Make({"name"}) = "SETTING_" + std::to_string(i);
    variable.Make({"value"}) = "value-of-a-common-length-" + std::to_string(i);
    environment.push_back(variable);
  }
  container.Make({"env"}) = environment;
  for (const auto* kind : {"requests", "limits"}) {
    container.Make({"resources", kind, "cpu"}) = std::to_string(10 * size) + "m";
    container.Make({"resources", kind, "memory"}) = std::to_string(8 * size) + "Mi";
  }
  return container;
}

}  // namespace

std::string PodJson(int index) {
  const int workload = index % kWorkloads;
  json::Value pod;
  pod.Make({"apiVersion"}) = "v1";
  pod.Make({"kind"}) = "Pod";
  pod.Make({"metadata", "name"}) = "p" + std::to_string(index);
  for (const auto* label : {"app", "app.kubernetes.io/name", "app.kubernetes.io/instance"}) {
    pod.Make({"metadata", "labels", label}) = "workload-" + std::to_string(workload);
  }
  pod.Make({"spec", "containers"}) =
      json::Array{Container("main", workload + 1), Container("sidecar", 1)};
  return json::Write(pod);
}

json::Value QuotaOfSevenNames() {
  return e2e::Quota("q", {{"pods", "1M"},
                          {"cpu", "1M"},
                          {"memory", "1Pi"},
                          {"requests.cpu", "1M"},
                          {"requests.memory", "1Pi"},
                          {"limits.cpu", "1M"},
                          {"limits.memory", "1Pi"}});
}

void CreateAll(e2e::Api& api, int from, int to, const Maker& maker) {
  for (int next = from; next < to;) {
    std::vector<client::ApiRequest> requests;
    for (const int end = std::min(to, next + kAtOnce); next < end; ++next) {
      requests.push_back(maker(next));
    }
    for (const auto& answer : api.DoAll(std::move(requests), kParallel)) {
      if (!answer) throw std::runtime_error("filling: " + answer.error().message);
    }
  }
}

double Fill(e2e::Api& api, const std::string& ns, int from, int to) {
  const auto began = std::chrono::steady_clock::now();
  CreateAll(api, from, to, [&](int index) {
    return client::ApiRequest{.verb = "POST",
                              .path = e2e::PathOf("pods", ns),
                              .content_type = std::string(client::kJson),
                              .body = PodJson(index),
                              .timeout = std::chrono::seconds(120)};
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return (to - from) / took.count();
}

}  // namespace bench
