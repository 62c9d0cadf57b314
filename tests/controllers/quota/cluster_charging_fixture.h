#pragma once

// Controllers and admitters of core and of ClusterQuotas, beside a fake cluster, in virtual time.

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/quota/cluster/cluster_quota.h"
#include "tests/controllers/quota/cluster_fixture.h"
#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {

inline json::Value Namespace(const std::string& name, const std::string& team) {
  return json::Object{
      {"metadata", json::Object{{"name", name}, {"labels", json::Object{{"team", team}}}}}};
}

// A quota over the namespaces of a team, or without a selector if it is "".
inline json::Value ClusterQuota(const std::string& name, const std::string& team, json::Object hard,
                                const std::string& parent = "") {
  json::Object spec{{"hard", std::move(hard)}};
  if (!team.empty()) {
    spec.Set("namespaceSelector", json::Object{{"matchLabels", json::Object{{"team", team}}}});
  }
  if (!parent.empty()) spec.Set("parent", parent);
  return json::Object{{"metadata", json::Object{{"name", name}}}, {"spec", std::move(spec)}};
}

class Batches final : public admission::Observer {
 public:
  void OnDecision(std::string_view, std::string_view, base::Duration) override {}
  void OnWarning(std::string_view) override {}
  void OnBatch(std::string_view, std::size_t, std::size_t made) override { writes += made; }
  void OnConflict(std::string_view) override { ++conflicts; }
  void OnReservationsExpired(std::string_view, std::size_t) override {}
  std::size_t writes = 0;
  std::size_t conflicts = 0;
};

// A controller of core and one of ClusterQuotas.
struct Clustered : ControllerFixture {
  // Who enforces the ResourceQuotas: the same admitter, or somebody else.
  enum class Core : std::uint8_t { kEnforced, kAdvises };
  explicit Clustered(admission::QuotaAdmitterOptions admitter_options = {},
                     Core core = Core::kEnforced) {
    cluster.Serve(kNamespaces, "Namespace", false);
    cluster.Serve(quotas.resource, quotas.kind, false);
    controllers::TrackingContext context{.executor = io.get_executor(),
                                         .scheduler = &scheduler,
                                         .client = &cluster,
                                         .reflector = {.seed = 1},
                                         .events = &events};
    context.name = quotas.name;
    controllers::QuotaControllerOptions options;
    options.seed = 1;
    options.leading = [this] { return leads; };
    options.crowd.crowd = 1'000'000;  // no bursts
    controller2.emplace(context, quotas, *served, shared, recorder, options);
    running.Spawn("cluster", [this] { return controller2->Run(); });
    admitter_options.exempt_namespaces = NamesOf({"exempt"});
    admitter.emplace(io.get_executor(), scheduler, batches, std::move(admitter_options));
    Enforce(*admitter, quotas, *controller2);
    if (core == Core::kEnforced) admitter->Enforce(api);
    if (core == Core::kAdvises) admitter->Advise(api);
    admitter->Open(api.name, controller->quota_book(), controller->object_book());
  }
  ~Clustered() {
    running.Cancel();
    calls.Spawn("stop", [this] { return admitter->Stop(); });
    RunFor(std::chrono::minutes(1));
  }

  void Put(const json::Value& quota) { cluster.Put(quotas.resource, quota); }
  void PutNamespace(const std::string& name, const std::string& team) {
    cluster.Put(kNamespaces, Namespace(name, team));
  }
  // The answer, once there is one.
  std::optional<admission::Answer>& Ask(const std::string& ns, const std::string& name,
                                        const std::string& cpu = "1") {
    json::Value pod = MakePod(name, cpu, ns);
    pod.Make({"metadata", "uid"}) = "uid-of-" + ns + name;
    admission::Review review{.uid = "call",
                             .resource = {"", "v1", "pods"},
                             .subresource = "",
                             .operation = admission::Operation::kCreate,
                             .ns = ns,
                             .name = name,
                             .object = std::move(pod)};
    auto& answer = answers.emplace_back();
    calls.Spawn("call", [this, &answer, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + std::chrono::seconds(5);
      admission::Answer given = co_await admitter->Admit(review, deadline);
      answer = std::move(given);
    });
    return answer;
  }
  const admission::Answer& Get(const std::string& ns, const std::string& name) {
    auto& answer = Ask(ns, name);
    RunFor(std::chrono::milliseconds(100));
    REQUIRE(answer.has_value());
    return *answer;
  }
  [[nodiscard]] std::string UsedOf(const std::string& name,
                                   const std::string& what = "pods") const {
    const json::Value* quota = cluster.Find(quotas.resource, "", name);
    return std::string(quota->StringAt({"status", "used", what}));
  }
  [[nodiscard]] std::size_t Count(admission::Answer::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        answers, [&](const auto& answer) { return answer && answer->kind == kind; }));
  }

  bool leads = true;
  quota::QuotaApi quotas = quota::ClusterQuotaApi();
  Batches batches;
  std::optional<controllers::QuotaController> controller2;
  std::optional<admission::QuotaAdmitter> admitter;
  base::TaskGroup running{io.get_executor()};
  base::TaskGroup calls{io.get_executor()};
  std::deque<std::optional<admission::Answer>> answers;
};

}  // namespace fixture
