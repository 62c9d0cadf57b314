#include "pkg/quota/quota.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "pkg/quota/cluster_status.h"

namespace quota {
namespace {

// The merge patch from `stored` to `desired`; empty if they are equal in value. Names of `garbage`
// are always set, or removed.
json::Object Difference(const ResourceList& stored, const ResourceList& desired,
                        const std::vector<std::string>& garbage) {
  std::vector<json::Member> difference;
  for (const auto& [name, quantity] : desired) {
    const Quantity* before = stored.Find(name);
    if (before == nullptr || *before != quantity) {
      difference.emplace_back(name, quantity.ToString());
    }
  }
  for (const auto& [name, quantity] : stored) {
    if (desired.Find(name) == nullptr) difference.emplace_back(name, nullptr);
  }
  for (const std::string& name : garbage) {
    const Quantity* amount = desired.Find(name);
    difference.emplace_back(name,
                            amount != nullptr ? json::Value(amount->ToString()) : json::Value());
  }
  return json::Object::FromMembers(std::move(difference));
}

}  // namespace

std::shared_ptr<const Evaluator> QuotaApi::CountedBy(const api::GroupResource& of) const {
  if (auto own = evaluators.Find(of)) return own;
  auto counter = object_counter ? object_counter(of) : std::nullopt;
  return counter ? std::make_shared<const Evaluator>(*std::move(counter)) : nullptr;
}

bool MayRefuse(const Quota& quota) {
  return !quota.cluster || quota.cluster->enforcement == ClusterSpec::Enforcement::kDeny;
}

QuotaStatus DesiredStatus(const Quota& quota, const Observed& observed, const ResourceList& held) {
  QuotaStatus desired{.hard = quota.hard, .used = {}};
  desired.used.Reserve(quota.hard.size());
  // A quota can have thousands of names.
  const std::set<std::string_view> unknown(observed.unknown.begin(), observed.unknown.end());
  const std::set<std::string_view> partial(observed.partial.begin(), observed.partial.end());
  for (const auto& [name, limit] : quota.hard) {
    if (std::ranges::binary_search(quota.unreadable.names, name)) continue;
    const Quantity* last = quota.status.used.Find(name);
    const Quantity* counted = observed.used.Find(name);
    if (counted == nullptr || unknown.contains(name)) {
      if (last != nullptr) desired.used.Set(name, *last);
      continue;
    }
    const Quantity used = std::max(counted->Add(held.Get(name)), Quantity());
    desired.used.Set(name,
                     partial.contains(name) && last != nullptr ? std::max(used, *last) : used);
  }
  return desired;
}

// An absent map and an empty one are the same here: the API server stores both in the same way, so
// a write for that difference would be repeated forever.
bool NeedsWrite(const Quota& quota, const QuotaStatus& desired, const json::Object& further) {
  return !quota.garbage.why.empty() || quota.status != desired ||
         !FurtherDifference(quota.further_status, further).empty();
}

std::string StatusPatch(const Quota& quota, const QuotaStatus& desired,
                        const std::string& reservations, const QuotaForm& form,
                        const json::Object& further) {
  json::Object status = FurtherDifference(quota.further_status, further);
  // Each write of used is one of the summary, also those of admission, which knows nothing further.
  if (quota.cluster && further.Find("summary") == nullptr) {
    const json::Value summary = SummaryOf(desired);
    const json::Value* const stored = quota.further_status.Find("summary");
    if (stored == nullptr || *stored != summary) status.Set("summary", summary);
  }
  json::Object hard = Difference(quota.status.hard, desired.hard, quota.garbage.hard);
  json::Object used = Difference(quota.status.used, desired.used, quota.garbage.used);
  if (!hard.empty() || !quota.has_status_hard) status.Set("hard", std::move(hard));
  if (!used.empty() || !quota.has_status_used) status.Set("used", std::move(used));
  json::Object metadata{{"uid", quota.uid}, {"resourceVersion", quota.resource_version}};
  const bool changed = !reservations.empty() && reservations != quota.reservations;
  if (changed && form.reservations_in_status) status.Set("reservations", reservations);
  if (changed && !form.reservations_in_status) {
    metadata.Set("annotations", json::Object{{std::string(kReservations), reservations}});
  }
  return json::Write(
      json::Object{{"metadata", std::move(metadata)}, {"status", std::move(status)}});
}

bool OwnsName(const Evaluator& evaluator, const std::string& name, const ClassTable* classes) {
  if (evaluator.owns(name)) return true;
  return classes != nullptr && evaluator.classes && evaluator.classes->owns &&
         evaluator.classes->owns(name, *classes);
}

std::vector<std::string> OwnedNames(const Evaluator& evaluator, const ResourceList& hard,
                                    const ClassTable* classes) {
  std::vector<std::string> names;
  names.reserve(hard.size());
  for (const auto& [name, limit] : hard) {
    if (OwnsName(evaluator, name, classes)) names.push_back(name);
  }
  return names;
}

bool OwnsAny(const Evaluator& evaluator, const ResourceList& hard, const ClassTable* classes) {
  return std::ranges::any_of(
      hard, [&](const auto& item) { return OwnsName(evaluator, item.first, classes); });
}

std::vector<std::string> NamesOfClasses(const Evaluator& evaluator, const ResourceList& hard) {
  std::vector<std::string> names;
  if (!evaluator.classes) return names;
  for (const auto& [name, limit] : hard) {
    if (evaluator.classes->concerns(name)) names.push_back(name);
  }
  return names;
}

}  // namespace quota
