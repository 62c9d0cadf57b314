// How long does a user wait for `kubectl quota`, compared with a bare download of the lists that it
// reads? Needs a server of QCM_E2E_SERVER. Prints Markdown tables, and its progress on stderr.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "tests/bench/bare_list.h"
#include "tests/bench/filler.h"
#include "tests/bench/run_main.h"
#include "tests/bench/verdict.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/process.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr const char* kBig = "big";
constexpr int kOwners = 50;
constexpr int kRounds = 5;
constexpr double kMostTimesTheDownload = 1.5;
constexpr double kMostMegabytes = 100;
constexpr double kMostSecondsBeyond = 1;
constexpr double kMostPageMegabytes = 5;

struct Size {
  int pods = 30'000;
  int namespaces = 5000;
};

// The cost of one command.
struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
  double peak_megabytes = 0;
  double output_megabytes = 0;
};

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// The peak of the resident memory; 0 if the process is gone.
double PeakMegabytes(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024 / 1e6;
  }
  return 0;
}

Cost CostOf(const std::string& kubeconfig, std::vector<std::string> arguments) {
  const e2e::TempDir folder;
  const std::string output = folder.path() + "/output";
  arguments.insert(arguments.begin(),
                   {e2e::BuiltProgram("kubectl-quota"), "--kubeconfig=" + kubeconfig});
  const auto began = steady_clock::now();
  e2e::Process process({.argv = std::move(arguments), .log_path = output});
  Cost cost;
  std::optional<int> code;
  while (!(code = process.Wait(std::chrono::milliseconds(2)))) {
    cost.peak_megabytes = std::max(cost.peak_megabytes, PeakMegabytes(process.pid()));
    cost.cpu_seconds = std::max(cost.cpu_seconds, e2e::UsageOf(process.pid()).cpu_seconds);
  }
  cost.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
  if (*code != 0) throw std::runtime_error("kubectl-quota: " + e2e::ReadFile(output));
  cost.output_megabytes = static_cast<double>(std::filesystem::file_size(output)) / 1e6;
  return cost;
}

// The command and the bare list run in turns on the same server. The medians of both.
struct Answer {
  double bare_seconds = 0;
  Cost cost;
};

Answer Ask(const std::string& kubeconfig, const std::string& path,
           const std::vector<std::string>& arguments) {
  std::vector<double> bare;
  std::vector<double> seconds;
  std::vector<double> cpu;
  Answer answer;
  for (int round = 0; round < kRounds; ++round) {
    bare.push_back(SecondsOfBareList(kubeconfig, path));
    const Cost cost = CostOf(kubeconfig, arguments);
    seconds.push_back(cost.seconds);
    cpu.push_back(cost.cpu_seconds);
    answer.cost.peak_megabytes = std::max(answer.cost.peak_megabytes, cost.peak_megabytes);
    answer.cost.output_megabytes = cost.output_megabytes;
  }
  answer.bare_seconds = MedianOf(bare);
  answer.cost.seconds = MedianOf(seconds);
  answer.cost.cpu_seconds = MedianOf(cpu);
  return answer;
}

client::ApiRequest Post(const std::string& path, const json::Value& object) {
  return {.verb = "POST",
          .path = path,
          .content_type = std::string(client::kJson),
          .body = json::Write(object),
          .timeout = std::chrono::seconds(120)};
}

json::Value WorkloadOf(const std::string& kind, const std::string& name) {
  json::Value object = e2e::Json(R"({"apiVersion": "apps/v1", "spec": {"replicas": 0,
      "selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "a"}},
      "spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
  object.Make({"kind"}) = kind;
  object.Make({"metadata", "name"}) = name;
  return object;
}

json::Value OwnerOf(const json::Value& owner) {
  return json::Array{json::Object{{"apiVersion", owner.StringAt({"apiVersion"})},
                                  {"kind", owner.StringAt({"kind"})},
                                  {"name", owner.StringAt({"metadata", "name"})},
                                  {"uid", owner.StringAt({"metadata", "uid"})},
                                  {"controller", true}}};
}

// Pods of ReplicaSets of Deployments.
void FillBig(e2e::Api& api, int pods) {
  std::cerr << "filling a namespace with " << pods << " pods ...\n";
  api.Create(e2e::PathOf("namespaces"), e2e::Namespace(kBig));
  api.Create(e2e::PathOf("resourcequotas", kBig), QuotaOfSevenNames());
  std::vector<json::Value> owners;
  for (int i = 0; i < kOwners; ++i) {
    const std::string name = "web-" + std::to_string(i);
    const auto made = api.Create(e2e::PathOf("deployments", kBig), WorkloadOf("Deployment", name));
    json::Value set = WorkloadOf("ReplicaSet", name + "-x");
    set.Make({"metadata", "ownerReferences"}) = OwnerOf(made);
    owners.push_back(OwnerOf(api.Create(e2e::PathOf("replicasets", kBig), set)));
  }
  CreateAll(api, 0, pods, [&](int index) {
    json::Value pod = e2e::Json(PodJson(index));
    pod.Make({"metadata", "ownerReferences"}) =
        owners[static_cast<std::size_t>(index) % owners.size()];
    return Post(e2e::PathOf("pods", kBig), pod);
  });
}

// Namespaces with a counted quota of six names each.
void FillSpaces(e2e::Api& api, int namespaces) {
  std::cerr << "making " << namespaces << " namespaces with a quota each ...\n";
  const auto ns = [](int index) { return "team-" + std::to_string(index); };
  CreateAll(api, 0, namespaces,
            [&](int index) { return Post(e2e::PathOf("namespaces"), e2e::Namespace(ns(index))); });
  const auto hard = e2e::Json(R"({"pods": "50", "requests.cpu": "20", "requests.memory": "64Gi",
      "limits.cpu": "40", "limits.memory": "128Gi", "services.loadbalancers": "0"})");
  CreateAll(api, 0, namespaces, [&](int index) {
    json::Value quota = e2e::Quota("compute", {});
    quota.Make({"spec", "hard"}) = hard;
    return Post(e2e::PathOf("resourcequotas", ns(index)), quota);
  });
  CreateAll(api, 0, namespaces, [&](int index) {
    json::Value status;
    status.Make({"status", "hard"}) = hard;
    json::Value used = hard;
    used.Make({"pods"}) = std::to_string(index % 51);
    used.Make({"requests.cpu"}) = std::to_string(index * 7 % 20'000) + "m";
    used.Make({"requests.memory"}) = std::to_string(index % 65) + "Gi";
    status.Make({"status", "used"}) = used;
    client::ApiRequest patch =
        Post(e2e::PathOf("resourcequotas", ns(index), "compute", "status"), status);
    patch.verb = "PATCH";
    patch.content_type = std::string(client::kMergePatch);
    return patch;
  });
}

// True if all targets are met.
bool AskWho(const std::string& kubeconfig, int pods) {
  std::cerr << "who ...\n";
  const Answer answer = Ask(kubeconfig, e2e::PathOf("pods", kBig),
                            {"who", "q", "-n", kBig, "--name", "requests.cpu"});
  const double ratio = answer.cost.seconds / answer.bare_seconds;
  std::printf(
      "How long does `kubectl quota who` take in a namespace with many pods, compared with a "
      "client that "
      "only downloads their list in the same form?\n\n"
      "| pods | download of the list, s | who, s | ratio | CPU, s | peak memory, MB |\n"
      "|---|---|---|---|---|---|\n| %d | %.2f | %.2f | %s | %.2f | %s |\n",
      pods, answer.bare_seconds, answer.cost.seconds,
      AtMost(ratio, kMostTimesTheDownload, 2).c_str(), answer.cost.cpu_seconds,
      AtMost(answer.cost.peak_megabytes, kMostMegabytes).c_str());
  std::fflush(stdout);
  return ratio <= kMostTimesTheDownload && answer.cost.peak_megabytes <= kMostMegabytes;
}

bool AskTop(const std::string& kubeconfig, int namespaces) {
  std::printf(
      "How long do `kubectl quota top -A` and `report -A` take over many namespaces with a quota "
      "of six names each, compared with a download of the list?\n\n"
      "| command | quotas | download of the list, s | command, s | difference, s | CPU, s | "
      "peak memory, MB | output, MB |\n|---|---|---|---|---|---|---|---|\n");
  bool met = true;
  for (const std::string command : {"top", "report"}) {
    std::cerr << command << " ...\n";
    const Answer answer = Ask(kubeconfig, "/api/v1/resourcequotas", {command, "-A"});
    const double beyond = answer.cost.seconds - answer.bare_seconds;
    const bool page = command == "report";
    const double size = answer.cost.output_megabytes;
    std::printf("| %s | %d | %.2f | %.2f | %s | %.2f | %.0f | %s |\n", command.c_str(), namespaces,
                answer.bare_seconds, answer.cost.seconds,
                page ? std::to_string(beyond).substr(0, 4).c_str()
                     : AtMost(beyond, kMostSecondsBeyond, 2).c_str(),
                answer.cost.cpu_seconds, answer.cost.peak_megabytes,
                page ? AtMost(size, kMostPageMegabytes).c_str()
                     : std::to_string(size).substr(0, 3).c_str());
    met = met && (page ? size <= kMostPageMegabytes : beyond <= kMostSecondsBeyond);
  }
  std::printf("\n");
  std::fflush(stdout);
  return met;
}

int Main(const std::vector<std::string>& arguments) {
  Size size;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    (arguments[i] == "--pods" ? size.pods : size.namespaces) = std::stoi(arguments[i + 1]);
  }
  const auto server = e2e::StartServer();
  e2e::Api api(server->Kubeconfig());
  FillSpaces(api, size.namespaces);
  const bool top = AskTop(server->Kubeconfig(), size.namespaces);
  FillBig(api, size.pods);
  const bool who = AskWho(server->Kubeconfig(), size.pods);
  return top && who ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunMain("kubectl_quota_bench", argc, argv, bench::Main);
}
