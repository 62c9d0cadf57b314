#include "tests/e2e/harness/scenario.h"

#include <iostream>
#include <random>
#include <set>

#include "pkg/api/names.h"
#include "pkg/quota/quota.h"

namespace e2e {

std::string FreshName(const std::string& prefix) {
  static std::mt19937_64 random{std::random_device{}()};
  std::string name = prefix + "-";
  for (int i = 0; i < 6; ++i) name += static_cast<char>('a' + random() % 26);
  return name;
}

namespace {

// Deletes the objects of every namespace: the daemon of the next scenario would count the objects
// and write the quotas that this one left in a namespace of its own.
void DeleteAll(Api& api, const std::string& resource) {
  const auto left = api.Do({.path = PathOf(resource), .timeout = Stretched(10s)});
  const auto list = json::Parse(left ? left->body : "{}");
  const json::Value* items = list ? list->At({"items"}) : nullptr;
  if (items == nullptr || items->AsArray() == nullptr) return;
  std::set<std::string> namespaces;
  for (const json::Value& object : *items->AsArray())
    namespaces.emplace(object.StringAt({"metadata", "namespace"}));
  if (resource == "services") namespaces.erase("default");  // the API server's own
  for (const std::string& ns : namespaces) {
    (void)api.Do({.verb = "DELETE",
                  .path = PathOf(resource, ns),
                  .query = {{"gracePeriodSeconds", "0"}},
                  .timeout = Stretched(10s)});
  }
}

// Namespaces often stay: nothing removes them where no controller runs. A quota of the next
// scenario could select one that this scenario labelled.
void RemoveLabels(Api& api) {
  const auto left = api.Do({.path = PathOf("namespaces"), .timeout = Stretched(10s)});
  const auto list = json::Parse(left ? left->body : "{}");
  if (!list) return;
  for (const json::Value& ns : list->ArrayAt({"items"})) {
    json::Object removed;
    const json::Value* labels = ns.At({"metadata", "labels"});
    if (labels == nullptr || labels->AsObject() == nullptr) continue;
    for (const auto& [key, value] : *labels->AsObject()) {
      if (key != api::kNamespaceLabel) removed.Set(key, json::Value());
    }
    if (removed.size() == 0) continue;
    const json::Value patch =
        json::Object{{"metadata", json::Object{{"labels", std::move(removed)}}}};
    (void)api.Do({.verb = "PATCH",
                  .path = PathOf("namespaces", "", std::string(ns.StringAt({"metadata", "name"}))),
                  .content_type = std::string(client::kMergePatch),
                  .body = json::Write(patch),
                  .timeout = Stretched(5s)});
  }
}

}  // namespace

Scenario::Scenario(ApiServer& server)
    : server_(server), api_(server.Kubeconfig()), ns_(FreshName("e2e")) {
  api_.Create(PathOf("namespaces"), Namespace(ns_));
}

Scenario::~Scenario() {
  const bool failed = std::uncaught_exceptions() > 0;
  if (failed && daemon_)
    std::cerr << "the daemon's last lines:\n" << Tail(daemon_->Log(), 25) << "\n";
  daemon_.reset();
  if (!IsShared(server_)) return;  // it ends soon, with everything in it
  // Best effort: a scenario may have left its server dead or broken.
  if (CurrentTier() == Tier::kSandbox) {
    // A fault for which no request came would meet a request of the next scenario.
    (void)api_.Do({.verb = "DELETE", .path = "/sandbox/faults", .timeout = Stretched(5s)});
  }
  for (const auto* resource : {"resourcequotas", "pods", "services"}) DeleteAll(api_, resource);
  RemoveLabels(api_);
  (void)api_.Do(
      {.verb = "DELETE", .path = PathOf("namespaces", "", ns_), .timeout = Stretched(5s)});
}

Daemon& Scenario::StartDaemon(const std::string& resync_period, const std::string& kubeconfig) {
  return StartDaemon({.kubeconfig = kubeconfig, .resync_period = resync_period});
}

Daemon& Scenario::StartDaemon(DaemonOptions options, bool wait_until_ready) {
  if (options.kubeconfig.empty()) options.kubeconfig = server_.Kubeconfig();
  daemon_ = std::make_unique<Daemon>(std::move(options));
  if (wait_until_ready) daemon_->WaitUntilReady();
  return *daemon_;
}

json::Value Scenario::GetQuota(const std::string& name) {
  return api_.Get(Path("resourcequotas", name));
}

std::string Scenario::ReservationsOf(const std::string& quota) {
  const json::Value stored = GetQuota(quota);
  return std::string(stored.StringAt({"metadata", "annotations", quota::kReservations}));
}

Quantities Scenario::Used(const std::string& quota) {
  return ToQuantities(GetQuota(quota).At({"status", "used"}));
}

void Scenario::WaitUsed(const std::string& quota, const Quantities& used,
                        std::chrono::milliseconds timeout) {
  const auto missing = [&]() -> std::string {
    const auto object = GetQuota(quota);
    const auto seen = ToQuantities(object.At({"status", "used"}));
    const auto hard = ToQuantities(object.At({"status", "hard"}));
    if (seen == used && hard == ToQuantities(object.At({"spec", "hard"}))) return "";
    return "status.used " + ToText(seen) + "; status.hard " + ToText(hard);
  };
  Eventually("quota " + quota + " uses " + ToText(used), missing, timeout);
}

std::string Scenario::ResourceVersion(const std::string& quota) {
  return std::string(GetQuota(quota).StringAt({"metadata", "resourceVersion"}));
}

}  // namespace e2e
