// Compares the predictions of `check` with the objects that the real kube-apiserver, with its own
// quota plugin, and kube-controller-manager then create and refuse. QCM_QUOTA_CASES is the number
// of random cases (500 take about a minute), QCM_QUOTA_SEED selects them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "pkg/quantity/quantity.h"
#include "tests/e2e/harness/random_manifests.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::kubectl_quota_truth_test {
namespace {

int FromEnvironment(const char* name, int fallback) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? fallback : std::atoi(text);
}

constexpr const char* kControllers =
    "resourcequota-controller,deployment-controller,replicaset-controller,"
    "replicationcontroller-controller,statefulset-controller,daemonset-controller,job-controller";

std::string ResourceOf(const json::Value& object) {
  const std::string kind(object.StringAt({"kind"}));
  std::string resource;
  for (const char c : kind) resource += static_cast<char>(std::tolower(c));
  return resource + "s";
}

std::string CollectionOf(const json::Value& object, const std::string& ns) {
  const std::string version(object.StringAt({"apiVersion"}));
  const std::string root = version == "v1" ? "/api/v1" : "/apis/" + version;
  return root + "/namespaces/" + ns + "/" + ResourceOf(object);
}

// One case in its namespace: its quotas and LimitRanges, the prediction of `check` about its
// manifests, and what the server then created and refused.
class Trial {
 public:
  Trial(Api& api, RandomCase made, std::string ns)
      : api_(&api), made_(std::move(made)), ns_(std::move(ns)) {}

  void MakeRules() {
    api_->Create("/api/v1/namespaces", Namespace(ns_));
    for (const json::Value& rule : made_.rules) api_->Create(CollectionOf(rule, ns_), rule);
  }
  // Returns "" once all quotas are counted.
  std::string Uncounted() {
    for (const json::Value& rule : made_.rules) {
      if (rule.StringAt({"kind"}) != "ResourceQuota") continue;
      const auto quota = QuotaNow(std::string(rule.StringAt({"metadata", "name"})));
      const json::Value* used = quota.At({"status", "used"});
      const json::Value* hard = quota.At({"spec", "hard"});
      const bool all = used != nullptr && used->AsObject()->size() == hard->AsObject()->size();
      if (!all) return json::Write(quota);
    }
    return "";
  }
  void Check(const std::string& kubeconfig, const TempDir& dir) {
    std::string text;
    for (const json::Value& manifest : made_.manifests) text += json::Write(manifest) + "\n---\n";
    const std::string file = dir.Write(ns_ + ".yaml", text);
    const auto asked = RunProgram({.argv = {BuiltProgram("kubectl-quota"), "check", "-f", file,
                                            "-n", ns_, "-o", "json", "--kubeconfig", kubeconfig}},
                                  Patience());
    INFO(asked.output);
    REQUIRE((asked.exit_code == 0 || asked.exit_code == 1));
    said_ = Json(asked.output.substr(asked.output.find('{')));  // behind a line of progress
    CHECK(Fits() == (asked.exit_code == 0));
  }
  void Create() {
    for (const json::Value& manifest : made_.manifests) {
      client::ApiRequest request;
      request.verb = "POST";
      request.path = CollectionOf(manifest, ns_);
      request.content_type = client::kJson;
      request.body = json::Write(manifest);
      const auto created = api_->Do(std::move(request));
      if (!created) refusals_.insert(created.error().message);
    }
  }
  // Remembers the current usage, and raises the replicas of the manifests that can grow.
  void Grow(RandomManifests& random) {
    before_.clear();
    for (const json::Value& rule : made_.rules) {
      if (rule.StringAt({"kind"}) != "ResourceQuota") continue;
      const std::string name(rule.StringAt({"metadata", "name"}));
      const json::Value quota = QuotaNow(name);
      for (const auto& [resource, used] : *quota.At({"status", "used"})->AsObject()) {
        before_[std::string(name).append(" ").append(resource)] = *used.AsString();
      }
    }
    for (json::Value& manifest : made_.manifests) {
      if (const auto replicas = random.Growth(manifest)) {
        manifest.Make({"spec", "replicas"}) = *replicas;
      }
    }
  }
  void Scale() {
    for (const json::Value& manifest : made_.manifests) {
      const json::Value* replicas = manifest.At({"spec", "replicas"});
      if (replicas == nullptr) continue;
      json::Value patch;
      patch.Make({"spec", "replicas"}) = *replicas;
      api_->MergePatch(
          CollectionOf(manifest, ns_) + "/" + std::string(manifest.StringAt({"metadata", "name"})),
          patch);
    }
  }
  [[nodiscard]] bool Fits() const { return said_.At({"fits"})->AsBool().value_or(false); }

  // Returns "" once the prediction has come true, otherwise the first difference.
  std::string NotTrue() {
    LookForRefusals();
    for (const std::string& refusal : refusals_) {
      if (!WasForeseen(refusal)) return "not foreseen: " + refusal;
    }
    if (!Fits()) return refusals_.empty() ? "nothing is refused" : "";
    for (const json::Value& rule : made_.rules) {
      if (rule.StringAt({"kind"}) != "ResourceQuota") continue;
      const auto quota = QuotaNow(std::string(rule.StringAt({"metadata", "name"})));
      for (const auto& [name, used] : *quota.At({"status", "used"})->AsObject()) {
        const std::string foreseen = Foreseen(rule.StringAt({"metadata", "name"}), name);
        if (!Equal(*used.AsString(), foreseen)) {
          std::string told = name;
          return told.append(" used ").append(*used.AsString()).append(", foreseen ") + foreseen;
        }
      }
    }
    return "";
  }
  [[nodiscard]] std::string Story() const {
    std::string text = ns_ + " said " + json::Write(said_) + "\n";
    for (const auto* list : {&made_.rules, &made_.manifests}) {
      for (const json::Value& object : *list) text += json::Write(object) + "\n";
    }
    return text;
  }
  void Remove() { api_->Delete("/api/v1/namespaces/" + ns_); }

 private:
  json::Value QuotaNow(const std::string& name) {
    return api_->Get("/api/v1/namespaces/" + ns_ + "/resourcequotas/" + name);
  }
  void LookForRefusals() {
    client::ApiRequest request;
    request.path = "/api/v1/namespaces/" + ns_ + "/events";
    request.query = {{"fieldSelector", "type=Warning"}};
    const auto answer = api_->Do(std::move(request));
    REQUIRE(answer.has_value());
    const json::Value events = Json(answer->body);
    for (const json::Value& event : *events.At({"items"})->AsArray()) {
      const std::string message(event.StringAt({"message"}));
      const bool of_quota = message.find("quota") != std::string::npos;
      if (of_quota || event.StringAt({"reason"}) == "FailedCreate") refusals_.insert(message);
    }
  }
  // True if `check` predicted this refusal: either with the same message, or by the same quota for
  // the same names.
  [[nodiscard]] bool WasForeseen(const std::string& refusal) const {
    for (const json::Value& objection : *said_.At({"objections"})->AsArray()) {
      if (refusal.find(objection.StringAt({"message"})) != std::string::npos) return true;
    }
    const std::string exceeded = Between(refusal, "exceeded quota: ", ", requested: ");
    std::istringstream names(Between(refusal, ", requested: ", ", used: "));
    bool all = !exceeded.empty();
    for (std::string name; all && std::getline(names, name, ',');) {
      all = Lacks(exceeded, name.substr(0, name.find('=')));
    }
    return all;
  }
  // The predicted usage. A name that `check` does not mention keeps its usage.
  [[nodiscard]] std::string Foreseen(std::string_view quota, const std::string& name) const {
    for (const json::Value& line : *said_.At({"items"})->AsArray()) {
      const bool same = line.StringAt({"quota"}) == quota && line.StringAt({"resource"}) == name;
      if (same) return std::string(line.StringAt({"after"}));
    }
    const auto before = before_.find(std::string(quota) + " " + name);
    return before == before_.end() ? "0" : before->second;
  }
  [[nodiscard]] bool Lacks(const std::string& quota, const std::string& name) const {
    return std::ranges::any_of(*said_.At({"items"})->AsArray(), [&](const json::Value& line) {
      return line.At({"lacking"}) != nullptr && line.StringAt({"quota"}) == quota &&
             line.StringAt({"resource"}) == name;
    });
  }
  static std::string Between(const std::string& text, const std::string& begin,
                             const std::string& end) {
    const std::size_t from = text.find(begin);
    if (from == std::string::npos) return "";
    const std::size_t to = text.find(end, from);
    if (to == std::string::npos) return "";
    return text.substr(from + begin.size(), to - from - begin.size());
  }
  static bool Equal(const std::string& a, const std::string& b) {
    const auto first = quantity::Quantity::Parse(a);
    const auto second = quantity::Quantity::Parse(b);
    return first && second && *first == *second;
  }

  Api* api_;
  RandomCase made_;
  std::string ns_;
  json::Value said_;
  std::set<std::string> refusals_;
  std::map<std::string, std::string> before_;  // "quota-0 pods": what was used before it grew
};

// Requires that each prediction comes true and stays true: nothing more is created afterwards.
void MustComeTrue(std::vector<Trial>& trials) {
  for (Trial& trial : trials) {
    INFO(trial.Story());
    std::string wrong;
    const bool came = PollUntil([&] { return (wrong = trial.NotTrue()).empty(); }, Patience());
    INFO(wrong);
    CHECK(came);
  }
  for (Trial& trial : trials) {
    INFO(trial.Story());
    CHECK(trial.NotTrue() == "");
  }
}

void MakeSurroundings(Api& api) {
  const auto make = [&](const std::string& path, const std::string& name,
                        const json::Value& object) {
    if (!api.Exists(path + "/" + name)) api.Create(path, object);
  };
  make("/apis/scheduling.k8s.io/v1/priorityclasses", "quota-check-high",
       PriorityClass("quota-check-high", 1000));
  make("/apis/node.k8s.io/v1/runtimeclasses", "quota-check-heavy",
       Json(R"({"metadata": {"name": "quota-check-heavy"}, "handler": "heavy",
                "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}}})"));
  make("/api/v1/nodes", "quota-check-1", Json(R"({"metadata": {"name": "quota-check-1"}})"));
  make("/api/v1/nodes", "quota-check-2", Json(R"({"metadata": {"name": "quota-check-2"},
                "spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}})"));
  // The API server adds the taint "not ready" to a new node. DaemonSets would create no pods there.
  api.MergePatch("/api/v1/nodes/quota-check-1", Json(R"({"spec": {"taints": null}})"));
}

}  // namespace

TEST_CASE("kubectl quota check predicts what is created and refused",
          "[e2e][kubectl-quota][random][controller-manager][real-only]") {
  if (!HaveBuiltinController()) return;  // there are no controllers to compare with
  const auto server = StartServer({.quota_plugin = true});
  TempDir dir;
  Api api(server->Kubeconfig());
  const auto controllers =
      StartBuiltinController(kControllers, server->Kubeconfig(), dir.path() + "/controllers.log");
  MakeSurroundings(api);
  const int cases = FromEnvironment("QCM_QUOTA_CASES", 60);
  RandomManifests random(static_cast<std::uint64_t>(FromEnvironment("QCM_QUOTA_SEED", 1)));
  int fitting = 0;
  int grown = 0;
  for (int done = 0; done < cases;) {
    std::vector<Trial> trials;
    for (int i = 0; i < 20 && done < cases; ++i, ++done) {
      trials.emplace_back(api, random.Next(), "case-" + std::to_string(done));
    }
    for (Trial& trial : trials) trial.MakeRules();
    for (Trial& trial : trials) Eventually("counted", [&] { return trial.Uncounted(); });
    for (Trial& trial : trials) trial.Check(server->Kubeconfig(), dir);
    for (Trial& trial : trials) trial.Create();
    MustComeTrue(trials);
    std::erase_if(trials, [](const Trial& trial) { return !trial.Fits(); });
    fitting += static_cast<int>(trials.size());
    for (Trial& trial : trials) trial.Grow(random);
    for (Trial& trial : trials) trial.Check(server->Kubeconfig(), dir);
    for (Trial& trial : trials) trial.Scale();
    MustComeTrue(trials);
    grown += static_cast<int>(
        std::ranges::count_if(trials, [](const Trial& trial) { return trial.Fits(); }));
  }
  // Both answers must be frequent. Otherwise the test shows nothing.
  CHECK(fitting * 5 > cases);
  CHECK(fitting * 5 < cases * 4);
  CHECK(grown * 5 > fitting);
  CHECK(grown < fitting);
  WARN(cases << " cases, of which " << fitting << " fit, and " << grown << " grown ones");
}

}  // namespace e2e::kubectl_quota_truth_test
