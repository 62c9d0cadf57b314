#include "controllers/usage/served_resources.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>

#include "pkg/client/server_version.h"
#include "pkg/json/value.h"

namespace controllers {
namespace {

// Longer than a discovery can take: its requests have deadlines of their own.
constexpr std::chrono::minutes kLongestWait{5};
// Answers within this time are of one moment: they do not confirm each other.
constexpr std::chrono::seconds kMoment{1};
// How long a version counts as present that is not told any more.
constexpr std::chrono::minutes kMixed{10};
constexpr std::chrono::seconds kAsksVersionAgain{10};

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
  co_await RefreshRules();  // before anything of it is counted
  Take(*found);
  co_return base::Result<void>();
}

void ServedResources::Take(const client::Discovered& found) {
  const bool first = generation_ == 0;
  Moment now{.began = scheduler_.Now()};
  for (const client::GroupVersion& version : found.failed) now.failed_groups.insert(version.group);
  SayFailed(now.failed_groups);
  failed_groups_ = now.failed_groups;
  const auto before = served_;
  for (const client::ApiResource& resource : found.resources) {
    if (!resource.Has("list") || !resource.Has("watch")) continue;
    now.versions.insert(resource.gvr);
    if (!resource.preferred) continue;
    const auto scope = resource.namespaced ? ResourceScope::kNamespaced : ResourceScope::kCluster;
    served_.insert_or_assign(resource.gvr.WithoutVersion(),
                             Served{resource.gvr, scope, resource.kind});
  }
  Remember(std::move(now));
  std::erase_if(served_, [this](const auto& entry) { return !HasVersion(entry.second.preferred); });
  if (first || served_ != before) ++generation_;
}

void ServedResources::Remember(Moment now) {
  // A group that failed keeps its last known state.
  std::ranges::copy_if(
      known_, std::inserter(now.versions, now.versions.end()),
      [&](const api::GroupVersionResource& gvr) { return now.failed_groups.contains(gvr.group); });
  const bool first = generation_ == 0;
  if (!first && now.began - last_.began < kMoment) {
    last_.versions.merge(now.versions);
    last_.failed_groups.merge(now.failed_groups);
  } else {
    if (!first) before_ = std::move(last_);
    last_ = std::move(now);
  }
  known_ = last_.versions;
  if (before_) known_.insert(before_->versions.begin(), before_->versions.end());
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

base::Task<void> ServedResources::RefreshRules() {
  const bool fresh = std::ranges::any_of(told_, [now = scheduler_.Now()](const auto& one) {
    return now - one.second < kAsksVersionAgain;
  });
  if (fresh) co_return;
  const auto version = co_await client::ReadServerVersion(client_);
  const base::TimePoint now = scheduler_.Now();
  const bool first = told_.empty();
  if (!version) {
    const base::Error& error = version.error();
    if (!error.Is(base::ErrorCode::kCancelled) && version_trouble_.Meet(error.message, now)) {
      LOG(WARNING) << "the server's version is not known; counting by "
                   << (first ? "the oldest rules" : "the same rules as before")
                   << " error=" << json::Quote(error.message);
    }
    co_return;
  }
  version_trouble_.Solve();
  const api::KubernetesVersion before = first ? *version : told_.begin()->first;
  told_.insert_or_assign(*version, now);
  std::erase_if(told_, [&](const auto& one) { return now - one.second > kMixed; });
  const api::KubernetesVersion& oldest = told_.begin()->first;
  rules_ = quota::RulesOf(oldest);
  LOG_IF(INFO, first || oldest != before)
      << "counting as Kubernetes " << oldest.ToString() << " does";
}

std::optional<api::GroupVersionResource> ServedResources::Find(const api::GroupResource& resource,
                                                               ResourceScope scope) const {
  const auto found = served_.find(resource);
  if (found == served_.end() || found->second.scope != scope) return std::nullopt;
  return found->second.preferred;
}

std::optional<api::GroupVersionResource> ServedResources::FindIn(const std::string& version,
                                                                 const api::GroupResource& resource,
                                                                 ResourceScope scope) const {
  auto served = Find(resource, scope);
  if (!served || version.empty()) return served;
  served->version = version;
  return HasVersion(*served) ? served : std::nullopt;
}

std::vector<std::string> ServedResources::VersionsOf(const api::GroupResource& resource,
                                                     ResourceScope scope) const {
  const auto preferred = Find(resource, scope);
  if (!preferred) return {};
  std::vector<std::string> versions{preferred->version};
  const api::GroupVersionResource first{.group = resource.group, .version = "", .resource = ""};
  for (auto at = known_.lower_bound(first); at != known_.end() && at->group == resource.group;
       ++at) {
    if (at->resource == resource.resource && *at != *preferred) versions.push_back(at->version);
  }
  return versions;
}

std::string ServedResources::KindOf(const api::GroupResource& resource) const {
  const auto found = served_.find(resource);
  return found == served_.end() ? "" : found->second.kind;
}

bool ServedResources::IsAbsent(const api::GroupResource& resource, ResourceScope scope) const {
  return generation_ > 0 && !failed_groups_.contains(resource.group) && !Find(resource, scope);
}

bool ServedResources::IsUnknown(const api::GroupResource& resource, ResourceScope scope) const {
  return generation_ > 0 && failed_groups_.contains(resource.group) && !Find(resource, scope);
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

bool ServedResources::HasOtherScope(const api::GroupResource& resource, ResourceScope scope) const {
  const auto found = served_.find(resource);
  return found != served_.end() && found->second.scope != scope;
}

bool ServedResources::HasVersion(const api::GroupVersionResource& resource) const {
  return known_.contains(resource);
}

}  // namespace controllers
