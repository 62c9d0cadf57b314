#include "pkg/inspect/why.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/cluster_limits.h"
#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/documents.h"
#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/objects.h"
#include "cmd/kubectl-quota/staying.h"
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

// Returns the holders of the lacking names. Adds those that would stay to the answer.
base::Task<base::Result<std::vector<inspect::LackHolders>>> HoldersOfLacks(
    Session& session, WhyAnswer& answer, const std::vector<quota::Quota>& quotas) {
  std::vector<inspect::LackHolders> lacks;
  const quota::QuotaApi& api = session.cluster.core();
  Staying stay;
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
    const inspect::Grouping grouping{.finalizers = true};
    inspect::HolderBook book(quota, names, grouping);
    Onlooker look = stay.Look();
    auto filled = co_await FillBook(session.cluster, api, book, std::move(look));
    if (!filled) co_return filled.error();
    for (const std::string& name : names) {
      lacks.push_back({line.quota, name, book.HoldersOf(name), cluster});
    }
  }
  auto all = co_await stay.Find(session.cluster, session.ns);
  if (!all) co_return all.error();
  answer.stay.merge(*all);
  co_return lacks;
}

// A workload, and what affects the admission of its pods.
struct Workload {
  inspect::ObjectName name;
  inspect::Surroundings surroundings;
  Unread unread;
  inspect::PodPlan plan;
};

base::Task<base::Result<Workload>> ReadWorkload(Session& session, const json::Value& object) {
  Cluster& cluster = session.cluster;
  Workload workload{.name = inspect::NameOf(object)};
  auto surroundings = co_await ReadSurroundings(cluster, session.ns, workload.unread);
  if (!surroundings) co_return surroundings.error();
  workload.surroundings = std::move(*surroundings);
  if (api::Kind(object) == "DaemonSet") {
    auto nodes = co_await ReadNodes(cluster, workload.surroundings);
    if (!nodes) co_return nodes.error();
    auto& nodes_for = workload.surroundings.nodes_for;
    if (!nodes_for) nodes_for = [](const json::Value&) { return 0; };
  }
  if (object.At({"spec", "volumeClaimTemplates"}) != nullptr) {
    auto claims = co_await ReadClaims(cluster, session.ns, workload.surroundings);
    if (!claims) co_return claims.error();
  }
  auto plan = inspect::PodsOfAny(object, workload.surroundings.nodes_for);
  if (!plan) {
    co_return base::Error{
        .code = base::ErrorCode::kInvalidArgument,
        .message = workload.name.ToString() + " has no pod template: name what makes pods"};
  }
  workload.plan = std::move(*plan);
  co_return workload;
}

// Returns how many pods it has.
base::Task<base::Result<std::int64_t>> CountPods(Cluster& cluster, Family& family,
                                                 const json::Value& object) {
  auto has = co_await family.CountPods();
  if (has || !has.error().Is(base::ErrorCode::kForbidden)) co_return has;
  cluster.terminal().Warn("its pods are counted by its own status: " + ErrorText(has.error()));
  co_return inspect::PresentPods(object).value_or(0);
}

base::Task<base::Result<inspect::FitBook>> FitOf(Session& session) {
  auto quotas = co_await CoreQuotas(session.cluster, session.ns);
  if (!quotas) co_return quotas.error();
  ClusterLimits limits(session.cluster);
  co_await limits.Read("");
  auto reached = co_await limits.In(session.ns);
  co_return inspect::FitBook(std::move(*quotas), std::move(reached));
}

// What the missing pods need of the quotas, and why the server refuses them whatever is free.
struct Needs {
  inspect::Demand pod;
  std::vector<inspect::ClaimDemand> claims;
  std::vector<std::string> refusals;
  std::set<std::string> own_claims;  // titles
};

// Finds the needs of the missing pods.
class NeedsFinder {
 public:
  // All must outlive it.
  NeedsFinder(Session& session, const Workload& workload, const inspect::FitBook& fit,
              Counters& counters)
      : session_(session), workload_(workload), fit_(fit), counters_(counters) {}

  base::Result<Needs> Find(const json::Value& object, std::int64_t has) {
    auto pod =
        inspect::AdmittedPod(inspect::PodFromTemplate(workload_.plan.pod_template, session_.ns,
                                                      workload_.name.name + "-…"),
                             workload_.surroundings.defaults);
    if (!pod) return pod.error();
    auto demand = Ask(*pod, true);
    if (!demand) return demand.error();
    needs_.pod = std::move(*demand);
    if (auto added = AddClaims(object, has); !added) return added.error();
    return std::move(needs_);
  }

 private:
  // A pod that exists has its claims, so the other claims that exist are those of the next pods.
  base::Result<void> AddClaims(const json::Value& object, std::int64_t has) {
    const std::int64_t wants = workload_.plan.count;
    if (has >= wants) return {};
    const inspect::Surroundings& around = workload_.surroundings;
    for (const auto& claims : inspect::SetClaimsOf(object, wants, around.claims, around.defaults)) {
      for (const std::string& name : claims.present) {
        needs_.own_claims.insert("persistentvolumeclaim/" + name);
      }
      if (claims.Present() >= wants) continue;
      const bool for_next = claims.Present() <= has;
      auto each = Ask(claims.claim, for_next);
      if (!each) return each.error();
      needs_.claims.push_back(
          {.each = std::move(*each), .missing = wants - claims.Present(), .for_next = for_next});
    }
    return {};
  }

  base::Result<inspect::Demand> Ask(const json::Value& object, bool next) {
    WarnOf(workload_.unread, object, fit_.quotas(), session_.terminal());
    const auto refusals = inspect::RefusalsOf(object, workload_.surroundings.defaults.bounds);
    if (next) needs_.refusals.insert(needs_.refusals.end(), refusals.begin(), refusals.end());
    const inspect::Counter* counter = counters_.Of("v1", api::Kind(object));
    return fit_.DemandOf(*counter, object, {}, session_.scheduler.WallNow());
  }

  Session& session_;
  const Workload& workload_;
  const inspect::FitBook& fit_;
  Counters& counters_;
  Needs needs_;
};

// Compares the needs with what is free.
WhyAnswer Compare(const json::Value& object, const Workload& workload, std::int64_t has,
                  const inspect::FitBook& fit, Needs needs) {
  const std::int64_t wants = workload.plan.count;
  const std::int64_t newest = inspect::NewestPods(object, has);
  const std::int64_t free = wants + inspect::SurgeOf(object, wants) - has;
  const std::int64_t at_once = newest == has ? std::numeric_limits<std::int64_t>::max() : free;
  WhyAnswer answer =
      inspect::Explain(workload.name, wants, newest, fit, needs.pod, at_once, needs.claims);
  answer.earlier = has - newest;
  answer.refusals = std::move(needs.refusals);
  answer.stay = std::move(needs.own_claims);
  return answer;
}

base::Task<base::Result<WhyAnswer>> ExplainWorkload(Session& session, const json::Value& object) {
  auto workload = co_await ReadWorkload(session, object);
  if (!workload) co_return workload.error();
  Family family(session.cluster, session.ns, object);
  const auto has = co_await CountPods(session.cluster, family, object);
  if (!has) co_return has.error();
  const auto fit = co_await FitOf(session);
  if (!fit) co_return fit.error();
  Counters counters(*co_await session.cluster.Kinds(), session.cluster.core());
  auto needs = NeedsFinder(session, *workload, *fit, counters).Find(object, *has);
  if (!needs) co_return needs.error();
  WhyAnswer answer = Compare(object, *workload, *has, *fit, std::move(*needs));
  answer.top = co_await family.TopOf(object);
  if (answer.has < answer.wants) answer.refusal = co_await family.LastRefusal();
  if (!answer.Refused()) co_return answer;
  auto lacks = co_await HoldersOfLacks(session, answer, fit->quotas());
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
