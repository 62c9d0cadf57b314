#include "cmd/kubectl-quota/family.h"

#include <algorithm>
#include <map>
#include <set>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"
#include "pkg/inspect/manifest.h"

namespace kubectl_quota {
namespace {

using inspect::OwnerRef;

const api::GroupVersionResource kPods{"", "v1", "pods"};
const api::GroupVersionResource kEvents{"", "v1", "events"};

constexpr const char* kPodFields =
    "metadata.ownerReferences metadata.deletionTimestamp status.phase";
constexpr const char* kEventFields =
    "involvedObject reason message lastTimestamp eventTime count series metadata.creationTimestamp";

informers::ReflectorOptions RefusalEvents(const std::string& ns) {
  informers::ReflectorOptions what = Listing(kEvents, ns, kEventFields);
  what.field_selector = "type=Warning";
  return what;
}

void AddRefusal(const json::Value& event,
                std::vector<std::pair<OwnerRef, inspect::Refusal>>& refusals) {
  // client-go's recorder combines similar events and adds this prefix.
  std::string_view message = event.StringAt({"message"});
  constexpr std::string_view kCombined = "(combined from similar events): ";
  if (message.starts_with(kCombined)) message.remove_prefix(kCombined.size());
  // "exceeded quota: …" or "failed quota: …"
  const bool of_quota = message.find("ed quota: ") != std::string_view::npos ||
                        message.find("ed cluster quota: ") != std::string_view::npos;
  if (!of_quota && event.StringAt({"reason"}) != "FailedCreate") return;
  const json::Value* object = event.At({"involvedObject"});
  if (object == nullptr) return;
  inspect::Refusal refusal{.message = std::string(message), .last = {}};
  for (const auto* text : {"lastTimestamp", "eventTime"}) {
    const auto time = api::ParseTime(event.StringAt({text}));
    if (time) refusal.last = std::max(refusal.last, *time);
  }
  const auto series = api::ParseTime(event.StringAt({"series", "lastObservedTime"}));
  if (series) refusal.last = std::max(refusal.last, *series);
  const json::Value* count = event.At({"count"});
  if (count != nullptr) refusal.times = count->AsInt64().value_or(1);
  refusals.emplace_back(OwnerRef{.api_version = std::string(api::ApiVersion(*object)),
                                 .kind = std::string(api::Kind(*object)),
                                 .name = std::string(object->StringAt({"name"})),
                                 .uid = std::string(object->StringAt({"uid"}))},
                        std::move(refusal));
}

}  // namespace

bool IsActive(const json::Value& pod) {
  const std::string_view phase = pod.StringAt({"status", "phase"});
  return phase != "Succeeded" && phase != "Failed" && !api::IsBeingDeleted(pod);
}

Family::Family(Cluster& cluster, std::string ns, const json::Value& head)
    : cluster_(cluster), ns_(std::move(ns)), uid_(api::Uid(head)) {
  owners_.Add(head);
}

base::Task<base::Result<std::int64_t>> Family::CountPods() {
  std::map<std::string, std::pair<OwnerRef, std::int64_t>> pods;  // by direct owner
  const auto add = [&](const json::Value& pod) {
    const auto owner = inspect::OwnerOf(pod);
    if (!owner || !IsActive(pod)) return;
    auto& [ref, count] = pods[owner->uid];
    ref = *owner;
    ++count;
  };
  auto listed = co_await cluster_.List(Listing(kPods, ns_, kPodFields), add, [&] { pods.clear(); });
  if (!listed) co_return listed.error();
  std::vector<OwnerRef> refs;
  refs.reserve(pods.size());
  for (const auto& [uid, entry] : pods) refs.push_back(entry.first);
  co_await Learn(refs);
  std::int64_t own = 0;
  for (const auto& [uid, entry] : pods) own += IsOwn(entry.first) ? entry.second : 0;
  co_return own;
}

base::Task<inspect::ObjectName> Family::TopOf(const json::Value& head) {
  const std::optional<OwnerRef> owner = inspect::OwnerOf(head);
  if (!owner) co_return inspect::NameOf(head);
  const std::vector<OwnerRef> refs{*owner};
  co_await Learn(refs);
  co_return owners_.Top(*owner).Name();
}

base::Task<std::optional<inspect::Refusal>> Family::LastRefusal() {
  std::vector<std::pair<OwnerRef, inspect::Refusal>> refusals;
  const auto add = [&](const json::Value& event) { AddRefusal(event, refusals); };
  auto listed = co_await cluster_.List(RefusalEvents(ns_), add, [&] { refusals.clear(); });
  if (!listed) {
    cluster_.terminal().Warn("shown without Events: " + ErrorText(listed.error()));
    co_return std::nullopt;
  }
  std::vector<OwnerRef> refs;
  refs.reserve(refusals.size());
  for (const auto& [ref, refusal] : refusals) refs.push_back(ref);
  co_await Learn(refs);
  std::optional<inspect::Refusal> last;
  for (auto& [ref, refusal] : refusals) {
    if (IsOwn(ref) && (!last || refusal.last > last->last)) last = std::move(refusal);
  }
  co_return last;
}

base::Task<void> Family::Learn(std::vector<OwnerRef> refs) {
  const auto missing = [this, refs] {
    std::set<inspect::OwnerKind> kinds;
    for (const OwnerRef& ref : refs) {
      if (auto kind = owners_.Missing(ref)) kinds.insert(std::move(*kind));
    }
    return kinds;
  };
  const std::vector<std::string> places(1, ns_);
  co_await ReadOwners(cluster_, places, owners_, missing);
}

}  // namespace kubectl_quota
