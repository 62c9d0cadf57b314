#include "controllers/quota/served_resources.h"

#include <glog/logging.h>

namespace controllers {

base::Task<base::Result<void>> ServedResources::Refresh() {
  const auto found = co_await discovery_.Look();
  if (!found) {
    const base::Error& error = found.error();
    if (!error.Is(base::ErrorCode::kCancelled) &&
        std::exchange(trouble_, error.message) != error.message) {
      LOG(WARNING) << "discovery failed, what was known is used error=\"" << error.message << "\"";
    }
    co_return error;
  }
  if (!std::exchange(trouble_, "").empty()) LOG(INFO) << "discovery works again";
  Take(*found);
  co_return base::Result<void>();
}

void ServedResources::Take(const client::Discovered& found) {
  std::set<std::string> failed;
  for (const client::GroupVersion& version : found.failed) failed.insert(version.group);
  // A group of which nothing is known any more keeps what was known of it.
  std::erase_if(served_, [&](const auto& entry) { return !failed.contains(entry.first.group); });
  for (const client::ApiResource& resource : found.resources) {
    const bool countable = resource.namespaced && resource.Has("list") && resource.Has("watch");
    if (resource.preferred && countable) {
      served_.insert_or_assign(resource.gvr.WithoutVersion(), resource.gvr);
    }
  }
  failed_groups_ = std::move(failed);
  answered_ = true;
}

std::optional<api::GroupVersionResource> ServedResources::Find(
    const api::GroupResource& resource) const {
  const auto found = served_.find(resource);
  if (found == served_.end()) return std::nullopt;
  return found->second;
}

bool ServedResources::IsAbsent(const api::GroupResource& resource) const {
  return answered_ && !failed_groups_.contains(resource.group) && !served_.contains(resource);
}

}  // namespace controllers
