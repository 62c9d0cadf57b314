#include "pkg/inspect/why.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/documents.h"
#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/lacks.h"
#include "cmd/kubectl-quota/objects.h"
#include "cmd/kubectl-quota/surroundings.h"
#include "cmd/kubectl-quota/why_parts.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/pod_plan.h"
#include "pkg/inspect/why_stored.h"

namespace kubectl_quota {
namespace {

using inspect::WhyAnswer;

// A workload, and what affects the admission of its pods.
struct Workload {
  inspect::ObjectName name;
  std::string nodes_unknown;  // why its nodes are not known; "" if they are, or do not matter
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
    const std::int64_t desired = inspect::NumberAt(object, {"status", "desiredNumberScheduled"}, 0);
    if (!nodes_for) workload.nodes_unknown = "the nodes may not be listed";
    if (!nodes_for) nodes_for = [desired](const json::Value&) { return desired; };
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

// What the missing pods need of the quotas, and why the server refuses them whatever is free.
struct Needs {
  inspect::Demand pod;
  inspect::Demand least;  // of a pod that specifies all limits, as low as possible
  std::vector<inspect::ClaimDemand> claims;
  std::vector<std::string> refusals;
  std::set<std::string> own_claims;  // titles
  std::set<std::string> unknown;     // Books::Undefined(), and what depends on unseen classes
};

// Finds the needs of the missing pods.
class NeedsFinder {
 public:
  // All must outlive it.
  NeedsFinder(Session& session, const Workload& workload, const Books& books)
      : session_(session), workload_(workload), books_(books), core_(books.core()) {}

  base::Result<Needs> Find(const json::Value& object, std::int64_t has) {
    auto pod =
        inspect::AdmittedPod(inspect::PodFromTemplate(workload_.plan.pod_template, session_.ns,
                                                      workload_.name.name + "-…"),
                             workload_.surroundings.defaults);
    if (!pod) return pod.error();
    auto demand = Ask(*pod, true);
    if (!demand) return demand.error();
    needs_.pod = std::move(*demand);
    auto least = Ask(inspect::WithLeastLimits(*pod), false);
    if (!least) return least.error();
    needs_.least = std::move(*least);
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
    WarnOf(workload_.unread, object, core_.book.quotas(), session_.terminal());
    for (std::string& text : books_.Undefined(core_, object)) {
      needs_.unknown.insert(std::move(text));
    }
    const auto refusals = inspect::RefusalsAtAdmission(object, workload_.surroundings.defaults);
    if (next) needs_.refusals.insert(needs_.refusals.end(), refusals.begin(), refusals.end());
    const inspect::Counter* counter = core_.counters.Of("v1", api::Kind(object));
    auto demand = core_.book.DemandOf(*counter, object, {}, session_.scheduler.WallNow());
    if (demand) needs_.unknown.insert(demand->unknown.begin(), demand->unknown.end());
    return demand;
  }

  Session& session_;
  const Workload& workload_;
  const Books& books_;
  ApiBook& core_;
  Needs needs_;
};

// Compares the needs with what is free.
WhyAnswer Compare(const json::Value& object, const Workload& workload, std::int64_t has,
                  const inspect::FitBook& fit, Needs needs) {
  std::int64_t wants = workload.plan.count;
  // Then it is told what one more would meet.
  const bool known = workload.nodes_unknown.empty() || wants > 0;
  if (!known) wants = has + 1;
  const std::int64_t newest = inspect::NewestPods(object, has);
  const std::int64_t free = wants + inspect::SurgeOf(object, wants) - has;
  const std::int64_t at_once = newest == has ? std::numeric_limits<std::int64_t>::max() : free;
  WhyAnswer answer =
      inspect::Explain(workload.name, wants, newest, fit, needs.pod, at_once, needs.claims);
  inspect::TellMissing(fit, needs.least,
                       std::max<std::int64_t>(1, std::min(wants - newest, at_once)), answer);
  if (!known) answer.wants_unknown = workload.nodes_unknown;
  answer.earlier = has - newest;
  // The server asks quotas last.
  std::ranges::move(answer.refusals, std::back_inserter(needs.refusals));
  answer.refusals = std::move(needs.refusals);
  answer.unknown.assign(needs.unknown.begin(), needs.unknown.end());
  answer.stay = std::move(needs.own_claims);
  return answer;
}

base::Task<base::Result<WhyAnswer>> ExplainWorkload(Session& session, const Books& books,
                                                    const json::Value& object) {
  auto workload = co_await ReadWorkload(session, object);
  if (!workload) co_return workload.error();
  Family family(session.cluster, session.ns, object);
  const auto has = co_await CountPods(session.cluster, family, object);
  if (!has) co_return has.error();
  ApiBook& core = books.core();
  auto needs = NeedsFinder(session, *workload, books).Find(object, *has);
  if (!needs) co_return needs.error();
  WhyAnswer answer = Compare(object, *workload, *has, core.book, std::move(*needs));
  answer.top = co_await family.TopOf(object);
  const bool lacks = answer.has < answer.wants || !workload->nodes_unknown.empty();
  if (lacks) answer.refusal = co_await family.LastRefusal();
  if (auto found = co_await FindRoom(session, books, answer); !found) co_return found.error();
  co_return answer;
}

// What is told of one object.
struct Explained {
  bool refused = false;
  std::string text;
  json::Value value;
};

// True for what quotas count and of which no controller makes more that they count.
bool IsCountedAlone(const json::Value& object) {
  return inspect::Is(object, inspect::kPod) || inspect::Is(object, inspect::kBinding) ||
         inspect::Is(object, {"Volume", "storage.ironcore.dev"}) ||
         inspect::Is(object, {"Bucket", "storage.ironcore.dev"});
}

Explained Tell(const Session& session, const WhyAnswer& answer) {
  return {.refused = answer.Refused(),
          .text = inspect::WhyText(answer, session.scheduler.WallNow()),
          .value = inspect::WhyValue(answer)};
}

base::Task<base::Result<Explained>> ExplainOne(Session& session, std::string argument) {
  auto named = co_await FindNamed(session.cluster, argument);
  if (!named) co_return named.error();
  auto object = co_await GetObject(session.cluster, *named, session.ns);
  if (!object) co_return object.error();
  if (IsCountedAlone(*object)) {
    co_return Explained{.refused = inspect::IsHeldByQuota(*object),
                        .text = inspect::WhyStoredText(*object),
                        .value = inspect::WhyStoredValue(*object)};
  }
  const auto books = co_await ReadBooks(session);
  if (!books) co_return books.error();
  auto parts = co_await ExplainParts(session, **books, *object);
  if (!parts) co_return parts.error();
  if (*parts) co_return Tell(session, **parts);
  auto answer = co_await ExplainWorkload(session, **books, *object);
  if (!answer) co_return answer.error();
  co_return Tell(session, *answer);
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
  const auto objects = co_await WithTypes(session.cluster, session.options.why.objects, session.ns);
  if (!objects) co_return objects.error();
  for (const std::string& argument : *objects) {
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
