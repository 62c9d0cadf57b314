// A quota object of any quota API: the same from its watched fields as from the whole object. After
// our patch its status is the desired one.

#include "pkg/quota/quota.h"

#include <map>

#include "cmd/sandbox-apiserver/patch.h"
#include "pkg/json/projection.h"
#include "pkg/quota/cluster_status.h"
#include "pkg/quota/guarantee.h"
#include "tests/fuzz/evaluators.h"
#include "tests/fuzz/target.h"

namespace {

using quota::Quota;
using quota::QuotaApi;

bool SameCluster(const Quota& a, const Quota& b) {
  if (!a.cluster || !b.cluster) return !a.cluster && !b.cluster;
  return a.cluster->selector == b.cluster->selector && a.cluster->parent == b.cluster->parent &&
         a.cluster->guaranteed == b.cluster->guaranteed &&
         a.cluster->enforcement == b.cluster->enforcement &&
         a.cluster->generation == b.cluster->generation && a.further_status == b.further_status;
}

bool Same(const Quota& a, const Quota& b) {
  return a.key == b.key && a.uid == b.uid && a.resource_version == b.resource_version &&
         a.hard == b.hard && a.selector == b.selector && a.status == b.status &&
         a.has_status_hard == b.has_status_hard && a.has_status_used == b.has_status_used &&
         a.deleting == b.deleting && a.alert_threshold == b.alert_threshold && SameCluster(a, b);
}

// Limited names are partly used; every third name is unknown.
quota::Observed ObservedOf(const Quota& quota) {
  quota::Observed observed;
  std::size_t index = 0;
  for (const auto& [name, limit] : quota.hard) {
    if (index++ % 3 == 2) {
      observed.unknown.push_back(name);
    } else {
      observed.used.Set(name, limit);
    }
  }
  return observed;
}

void CheckStatus(const json::Value& object, const QuotaApi& api, const Quota& quota) {
  const auto desired = quota::DesiredStatus(quota, ObservedOf(quota), quota.hard);
  fuzz::Require(desired.hard == quota.hard, "hard as in the spec");
  const auto patch = json::Parse(quota::StatusPatch(quota, desired));
  fuzz::Require(patch.has_value(), "a patch is JSON");
  const json::Value patched = sandbox::ApplyMergePatch(object, *patch);
  const auto again = quota::ParseQuota(patched, api.form);
  fuzz::Require(again.has_value(), "a quota with a status is a quota");
  fuzz::Require(again->status == desired, "the patch writes the desired status");
  fuzz::Require(!quota::NeedsWrite(*again, desired), "and then nothing is to be written");
}

// What a ClusterQuota's status says beside hard and used.
void CheckFurther(const json::Value& object, const QuotaApi& api, const Quota& quota) {
  const quota::ResourceList guaranteed = quota::Guaranteed(*quota.cluster, quota.hard);
  for (const auto& [name, amount] : guaranteed) {
    fuzz::Require(amount <= quota.hard.Get(name), "no more is guaranteed than is limited");
  }
  json::Object available;
  for (const auto& [name, limit] : quota.hard) available.Set(name, limit.ToString());
  const json::Object further{{"observedGeneration", quota.cluster->generation},
                             {"available", available},
                             {"largest", json::Array{}},
                             {"namespaces", 3}};
  const auto patch = json::Parse(quota::StatusPatch(quota, quota.status, "", api.form, further));
  fuzz::Require(patch.has_value(), "a patch is JSON");
  const auto again = quota::ParseQuota(sandbox::ApplyMergePatch(object, *patch), api.form);
  fuzz::Require(again.has_value(), "a quota with a status is a quota");
  fuzz::Require(quota::FurtherDifference(again->further_status, further).empty(),
                "the patch writes what differs, and nothing is left");
}

void CheckNames(const QuotaApi& api, const Quota& quota) {
  for (const quota::Evaluator& evaluator : api.evaluators) {
    for (const std::string& name : quota::OwnedNames(evaluator, quota.hard)) {
      fuzz::Require(quota.hard.Find(name) != nullptr, "a name that is owned is limited");
    }
    (void)quota::NamesOfClasses(evaluator, quota.hard);
  }
  if (!api.counted_resource || !api.object_counter) return;
  for (const auto& [name, limit] : quota.hard) {
    const auto resource = api.counted_resource(name);
    const auto counter = resource ? api.object_counter(*resource) : std::nullopt;
    if (counter) fuzz::Require(counter->owns(name), "who counts a resource owns its name");
  }
}

const json::Projection& WatchedFields(const QuotaApi& api) {
  static std::map<const QuotaApi*, json::Projection> made;
  const auto found = made.find(&api);
  if (found != made.end()) return found->second;
  std::vector<std::string> fields = quota::QuotaFields(api.form);
  fields.insert(fields.end(), api.fields.begin(), api.fields.end());
  return made.emplace(&api, fuzz::WithIdentity(fields)).first->second;
}

FUZZ_TARGET(quota) {
  const auto object = json::Parse(input);
  if (!object) return;
  const QuotaApi& api = fuzz::ApiOf(*object);
  const auto quota = quota::ParseQuota(*object, api.form);
  const auto projected = json::ParseProjected(input, WatchedFields(api));
  fuzz::Require(projected.has_value(), "what parses is projected");
  const auto watched = quota::ParseQuota(*projected, api.form);
  fuzz::Require(quota.has_value() == watched.has_value(), "the watched fields are enough");
  if (!quota) {
    fuzz::RequireSame(watched.error().message, quota.error().message, "for the same reason");
    return;
  }
  fuzz::Require(Same(*quota, *watched), "the same quota from the watched fields");
  fuzz::Require(quota::NeedsWrite(*quota, quota->status) == !quota->garbage.why.empty(),
                "a status that can be read is like itself");
  fuzz::Require(quota->alert_threshold >= 0 && quota->alert_threshold <= 1, "a share");
  CheckStatus(*object, api, *quota);
  if (api.form.cluster) CheckFurther(*object, api, *quota);
  CheckNames(api, *quota);
}

}  // namespace
