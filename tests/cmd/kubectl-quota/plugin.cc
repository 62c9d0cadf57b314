#include "tests/cmd/kubectl-quota/plugin.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "cmd/kubectl-quota/commands.h"
#include "pkg/base/task_group.h"
#include "pkg/config/yaml.h"
#include "pkg/quota/core/core_quota.h"

namespace kubectl_quota_tests {
namespace {

using namespace kubectl_quota;

// Takes what is written to a stream.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  [[nodiscard]] std::string Text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

base::Result<LabelsByNamespace> NoLabels(const std::vector<std::string>& namespaces) {
  return base::Error{.code = base::ErrorCode::kInvalidArgument,
                     .message = "no labels of " + namespaces.front()};
}

}  // namespace

Plugin::Plugin() {
  std::string path = std::filesystem::temp_directory_path() / "kubectl-quota-XXXXXX";
  REQUIRE(mkdtemp(path.data()) != nullptr);
  folder_ = path;
  cluster.Serve(quota::CoreQuotaApi().resource, "ResourceQuota");
  const api::GroupVersionResource namespaces{"", "v1", "namespaces"};
  cluster.Serve(namespaces, "Namespace", false);
  const std::vector<std::pair<api::GroupVersionResource, const char*>> usual{
      {{"", "v1", "pods"}, "Pod"},
      {{"", "v1", "secrets"}, "Secret"},
      {{"", "v1", "configmaps"}, "ConfigMap"},
      {{"", "v1", "limitranges"}, "LimitRange"},
      {{"", "v1", "persistentvolumeclaims"}, "PersistentVolumeClaim"},
      {{"apps", "v1", "deployments"}, "Deployment"},
      {{"apps", "v1", "replicasets"}, "ReplicaSet"},
      {{"apps", "v1", "statefulsets"}, "StatefulSet"},
      {{"apps", "v1", "daemonsets"}, "DaemonSet"},
      {{"autoscaling", "v1", "horizontalpodautoscalers"}, "HorizontalPodAutoscaler"},
      {{"autoscaling", "v2", "horizontalpodautoscalers"}, "HorizontalPodAutoscaler"}};
  for (const auto& [resource, kind] : usual) cluster.Serve(resource, kind);
  const std::vector<std::pair<api::GroupVersionResource, const char*>> classes{
      {{"node.k8s.io", "v1", "runtimeclasses"}, "RuntimeClass"},
      {{"scheduling.k8s.io", "v1", "priorityclasses"}, "PriorityClass"},
      {{"storage.k8s.io", "v1", "storageclasses"}, "StorageClass"}};
  for (const auto& [resource, kind] : classes) cluster.Serve(resource, kind, false);
  cluster.short_names = {{"pods", {"po"}},        {"deployments", {"deploy"}},
                         {"replicasets", {"rs"}}, {"statefulsets", {"sts"}},
                         {"daemonsets", {"ds"}},  {"horizontalpodautoscalers", {"hpa"}}};
  Put(namespaces, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
}

Plugin::~Plugin() { std::filesystem::remove_all(folder_); }

std::string Plugin::File(const std::string& name, const std::string& text) const {
  std::string path = folder_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

void Plugin::Put(const api::GroupVersionResource& resource, const std::string& object) {
  const auto value = config::ParseYaml(object);
  REQUIRE(value.has_value());
  cluster.Put(resource, *value);
}

Told Plugin::Ask(const std::vector<std::string>& arguments) {
  auto told = TryAsk(arguments);
  REQUIRE(told.has_value());
  return std::move(*told);
}

Told Plugin::CheckFiles(const std::string& manifests, const std::string& hard) {
  return Ask({"check", "-n", "shop", "-f", File("files.yaml", manifests), "--quota-file",
              File("quota.yaml",
                   "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, "
                   "spec: {hard: " +
                       hard + "}}")});
}

std::optional<Told> Plugin::TryAsk(const std::vector<std::string>& arguments) {
  const Parsed parsed = ParseArguments(arguments);
  if (parsed.leave) return std::nullopt;
  const Captured output(std::cout);
  const Captured warnings(std::cerr);
  Outcome outcome = kFailed;
  Terminal terminal({.unicode = true});
  if (const auto told = PerformWithFiles(parsed.options, terminal)) {
    outcome = *told;
  } else if (!parsed.options.check.quota_files.empty()) {
    outcome = CheckOffline(parsed.options, terminal, {}, NoLabels);
  } else {
    Cluster read(cluster, scheduler, terminal);
    const Place& place = parsed.options.place;
    const std::string ns = place.all_namespaces ? "" : place.ns.empty() ? "shop" : place.ns;
    Session session{read, scheduler, parsed.options, ns, "https://fake"};
    base::TaskGroup tasks(io_.get_executor());
    tasks.Spawn("command", [&]() -> base::Task<void> {
      Outcome performed = co_await Perform(session);
      outcome = std::move(performed);
    });
    scheduler.RunFor(std::chrono::seconds(10));
  }
  const int code = Report(terminal, outcome);
  return Told{.code = code, .output = output.Text(), .warnings = warnings.Text()};
}

}  // namespace kubectl_quota_tests
