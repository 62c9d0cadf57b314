#include "controllers/usage/served_resources.h"

#include <glog/logging.h>

#include "pkg/json/value.h"

namespace controllers {

namespace {

// Longer than a discovery can take: its requests have deadlines of their own.
constexpr std::chrono::minutes kLongestWait{5};
// Answers within this time are of one moment: they do not confirm each other.
constexpr std::chrono::seconds kMoment{1};

}  // namespace

base::Task<base::Result<void>> ServedResources::Refresh() {
  const base::TimePoint asked = scheduler_.Now();
  const bool inside = co_await gate_.Enter(asked + kLongestWait);
  if (!inside) {
    co_return base::Error{.code = base::ErrorCode::kCancelled, .message = "nobody asks any more"};
  }
  const base::LeavesGate leave{gate_};
  if (last_look_ > asked) co_return last_outcome_;  // another caller has asked since
  last_look_ = scheduler_.Now();
  last_outcome_ = co_await Look();
  co_return last_outcome_;
}

base::Task<base::Result<void>> ServedResources::Look() {
  const auto found = co_await discovery_.Look();
  if (!found) {
    const base::Error& error = found.error();
    if (!error.Is(base::ErrorCode::kCancelled) && trouble_.Meet(error.message, scheduler_.Now())) {
      LOG(WARNING) << "discovery failed; using the last known resources error="
                   << json::Quote(error.message);
    }
    co_return error;
  }
  if (trouble_.Solve()) LOG(INFO) << "discovery recovered";
  co_await rules_.Refresh();  // before anything of it is counted
  Take(*found);
  co_return base::Result<void>();
}

void ServedResources::Take(const client::Discovered& found) {
  std::set<std::string> failed;
  for (const client::GroupVersion& version : found.failed) failed.insert(version.group);
  const auto before = served_;
  // A group that failed keeps its last known state.
  std::erase_if(served_, [&](const auto& entry) { return !failed.contains(entry.first.group); });
  std::erase_if(versions_, [&](const auto& gvr) { return !failed.contains(gvr.group); });
  for (const client::ApiResource& resource : found.resources) {
    if (!resource.Has("list") || !resource.Has("watch")) continue;
    versions_.insert(resource.gvr);
    if (!resource.preferred) continue;
    const auto scope = resource.namespaced ? ResourceScope::kNamespaced : ResourceScope::kCluster;
    served_.insert_or_assign(resource.gvr.WithoutVersion(),
                             Served{resource.gvr, scope, resource.kind});
  }
  SayFailed(failed);
  failed_groups_ = std::move(failed);
  Remember();
  if (!std::exchange(answered_, true) || served_ != before) ++generation_;
}

void ServedResources::Remember() {
  const base::TimePoint now = scheduler_.Now();
  if (answered_ && now - last_.began < kMoment) {
    last_.versions.insert(versions_.begin(), versions_.end());
    last_.failed_groups.insert(failed_groups_.begin(), failed_groups_.end());
    return;
  }
  if (answered_) before_ = std::move(last_);
  last_ = {.began = now, .versions = versions_, .failed_groups = failed_groups_};
}

void ServedResources::SayFailed(const std::set<std::string>& failed) const {
  for (const std::string& group : failed) {
    if (failed_groups_.contains(group)) continue;
    LOG(WARNING) << "discovery of an API group failed; using its last known resources group="
                 << group;
  }
  for (const std::string& group : failed_groups_) {
    if (!failed.contains(group)) LOG(INFO) << "the API group answers again group=" << group;
  }
}

std::optional<api::GroupVersionResource> ServedResources::Find(const api::GroupResource& resource,
                                                               ResourceScope scope) const {
  const auto found = served_.find(resource);
  if (found == served_.end() || found->second.scope != scope) return std::nullopt;
  return found->second.preferred;
}

std::string ServedResources::KindOf(const api::GroupResource& resource) const {
  const auto found = served_.find(resource);
  return found == served_.end() ? "" : found->second.kind;
}

bool ServedResources::IsAbsent(const api::GroupResource& resource, ResourceScope scope) const {
  return answered_ && !failed_groups_.contains(resource.group) && !Find(resource, scope);
}

bool ServedResources::IsUnknown(const api::GroupResource& resource, ResourceScope scope) const {
  return answered_ && failed_groups_.contains(resource.group) && !Find(resource, scope);
}

void ServedResources::ForEachKind(const std::function<void(const api::GroupResource& resource,
                                                           const std::string& kind)>& visit) const {
  for (const auto& [resource, served] : served_) {
    if (served.scope == ResourceScope::kNamespaced) visit(resource, served.kind);
  }
}

bool ServedResources::LacksVersion(const api::GroupVersionResource& resource) const {
  return before_ && before_->Lacks(resource) && last_.Lacks(resource);
}

bool ServedResources::HasVersion(const api::GroupVersionResource& resource) const {
  return versions_.contains(resource);
}

}  // namespace controllers
