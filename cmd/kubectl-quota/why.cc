#include "pkg/inspect/why.h"

#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/documents.h"
#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/objects.h"
#include "cmd/kubectl-quota/surroundings.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/pod_plan.h"
#include "pkg/inspect/why_pod.h"

namespace kubectl_quota {
namespace {

using inspect::WhyAnswer;

// Returns the ResourceQuotas of the namespace: only they limit pods there.
base::Task<base::Result<std::vector<quota::Quota>>> CoreQuotas(Cluster& cluster, std::string ns) {
  auto quotas = co_await cluster.Quotas(std::move(ns), "");
  if (!quotas) co_return quotas.error();
  std::vector<quota::Quota> core;
  for (ReadQuota& read : *quotas) {
    if (read.of->kind.empty()) core.push_back(std::move(read.quota));
  }
  co_return core;
}

// Returns the holders of the lacking names.
base::Task<base::Result<std::vector<inspect::LackHolders>>> HoldersOfLacks(
    Session& session, const WhyAnswer& answer, const std::vector<quota::Quota>& quotas) {
  std::vector<inspect::LackHolders> lacks;
  const quota::QuotaApi& api = session.cluster.core();
  for (const inspect::WhyQuota& line : answer.quotas) {
    std::vector<std::string> names;
    for (const inspect::WhyName& name : line.names) {
      if (name.lacks_for_all) names.push_back(name.name);
    }
    if (names.empty()) continue;
    const bool cluster = !line.mode.empty();
    if (line.Tried()) continue;
    quota::Quota quota = *std::ranges::find_if(quotas, [&](const quota::Quota& q) {
      return q.key.name == line.quota && q.cluster.has_value() == cluster;
    });
    quota.key.ns =
        session.ns;  // holders in other namespaces are left out: the user cannot delete them
    inspect::HolderBook book(quota, names, {});
    auto filled = co_await FillBook(session.cluster, api, book);
    if (!filled) co_return filled.error();
    for (const std::string& name : names) {
      lacks.push_back({line.quota, name, book.HoldersOf(name), cluster});
    }
  }
  co_return lacks;
}

base::Task<base::Result<WhyAnswer>> ExplainWorkload(Session& session, const json::Value& object) {
  Cluster& cluster = session.cluster;
  Unread unread;
  auto surroundings = co_await ReadSurroundings(cluster, session.ns, unread);
  if (!surroundings) co_return surroundings.error();
  if (api::Kind(object) == "DaemonSet") {
    auto nodes = co_await ReadNodes(cluster, *surroundings);
    if (!nodes) co_return nodes.error();
  }
  const auto plan = inspect::PodsOfAny(object, surroundings->nodes_for);
  const inspect::ObjectName name = inspect::NameOf(object);
  if (!plan) {
    co_return base::Error{
        .code = base::ErrorCode::kInvalidArgument,
        .message = name.ToString() + " has no pod template: name what makes pods"};
  }
  Family family(cluster, session.ns, object);
  auto has = co_await family.CountPods();
  if (!has && has.error().Is(base::ErrorCode::kForbidden)) {
    cluster.terminal().Warn("its pods are counted by its own status: " + ErrorText(has.error()));
    has = inspect::PresentPods(object).value_or(0);
  }
  if (!has) co_return has.error();
  auto quotas = co_await CoreQuotas(cluster, session.ns);
  if (!quotas) co_return quotas.error();
  ClusterLimits limits(cluster);
  co_await limits.Read("");
  auto reached = co_await limits.In(session.ns);
  const inspect::FitBook fit(std::move(*quotas), std::move(reached));
  auto pod = inspect::AdmittedPod(
      inspect::PodFromTemplate(plan->pod_template, session.ns, name.name + "-…"),
      surroundings->defaults);
  if (!pod) co_return pod.error();
  WarnOf(unread, *pod, fit.quotas(), cluster.terminal());
  Counters counters(*co_await cluster.Kinds(), cluster.core());
  const auto demand =
      fit.DemandOf(*counters.Of("v1", "Pod"), *pod, {}, session.scheduler.WallNow());
  if (!demand) co_return demand.error();
  const std::int64_t newest = inspect::NewestPods(object, *has);
  const std::int64_t free = plan->count + inspect::SurgeOf(object, plan->count) - *has;
  WhyAnswer answer = newest == *has
                         ? inspect::Explain(name, plan->count, *has, fit, *demand)
                         : inspect::Explain(name, plan->count, newest, fit, *demand, free);
  answer.earlier = *has - newest;
  answer.refusals = inspect::RefusalsOf(*pod, surroundings->defaults.bounds);
  answer.top = co_await family.TopOf(object);
  if (answer.has < plan->count) answer.refusal = co_await family.LastRefusal();
  if (!answer.Refused()) co_return answer;
  auto lacks = co_await HoldersOfLacks(session, answer, fit.quotas());
  if (!lacks) co_return lacks.error();
  answer.room = inspect::RoomFor(answer, *lacks);
  co_return answer;
}

// What is told of one object.
struct Explained {
  bool refused = false;
  std::string text;
  json::Value value;
};

base::Task<base::Result<Explained>> ExplainOne(Session& session, std::string argument) {
  auto named = co_await FindNamed(session.cluster, argument);
  if (!named) co_return named.error();
  auto object = co_await GetObject(session.cluster, *named, session.ns);
  if (!object) co_return object.error();
  if (api::Kind(*object) == "Pod") {
    co_return Explained{.text = inspect::WhyPodText(*object),
                        .value = inspect::WhyPodValue(*object)};
  }
  auto answer = co_await ExplainWorkload(session, *object);
  if (!answer) co_return answer.error();
  co_return Explained{.refused = answer->Refused(),
                      .text = inspect::WhyText(*answer, session.scheduler.WallNow()),
                      .value = inspect::WhyValue(*answer)};
}

// As kubectl does: one document, or a List of several.
json::Value OneDocument(json::Array values) {
  if (values.size() == 1) return std::move(values.front());
  return json::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(values)}};
}

}  // namespace

base::Task<Outcome> Why(Session& session) {
  const std::string& output = session.options.output;
  bool refused = false;
  json::Array values;
  for (const std::string& argument : session.options.why.objects) {
    auto one = co_await ExplainOne(session, argument);
    if (!one) co_return one.error();
    refused = refused || one->refused;
    values.push_back(std::move(one->value));
    if (!IsDocument(output)) session.terminal().Write(one->text);
  }
  if (IsDocument(output)) {
    session.terminal().Write(PrintDocument(OneDocument(std::move(values)), output));
  }
  co_return refused ? kNo : kYes;
}

}  // namespace kubectl_quota
