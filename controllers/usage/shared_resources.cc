#include "controllers/usage/shared_resources.h"

namespace controllers {
std::shared_ptr<TrackedResource> SharedResources::Acquire(
    TrackingContext context, const quota::QuotaApi& api, const api::GroupVersionResource& resource,
    const quota::Evaluator& evaluator, UsageListener& user, TrackedResource::Classes classes) {
  context.name = api.CountsAs();
  std::shared_ptr<TrackedResource>& tracked =
      resources_[Key(context.name, resource, evaluator.revision)];
  if (tracked == nullptr) {
    tracked = std::make_shared<TrackedResource>(std::move(context), resource, evaluator);
  }
  tracked->Follow(rules_);
  tracked->AddUser(user, std::move(classes));
  return tracked;
}

// The entry goes before the resource stops: whoever acquires it meanwhile gets a new one.
base::Task<void> SharedResources::Release(std::shared_ptr<TrackedResource> tracked,
                                          UsageListener& user) {
  tracked->RemoveUser(user);
  if (tracked->used()) co_return;
  std::erase_if(resources_, [&](const auto& entry) { return entry.second == tracked; });
  co_await tracked->Stop();
}

void SharedResources::Follow(const quota::Rules& rules) {
  rules_ = rules;
  for (const auto& [key, tracked] : resources_) tracked->Follow(rules);
}

std::shared_ptr<ClassWatch> SharedResources::AcquireClasses(
    TrackingContext context, const quota::QuotaApi& api, const api::GroupVersionResource& classes,
    const quota::Evaluator& evaluator, UsageListener& user) {
  context.name = api.CountsAs();
  std::shared_ptr<ClassWatch>& watch =
      classes_[ClassKey(context.name, evaluator.resource, classes, evaluator.revision)];
  if (watch == nullptr) {
    watch = std::make_shared<ClassWatch>(std::move(context), classes, evaluator);
  }
  watch->AddUser(user);
  return watch;
}

base::Task<void> SharedResources::ReleaseClasses(std::shared_ptr<ClassWatch> watch,
                                                 UsageListener& user) {
  watch->RemoveUser(user);
  if (watch->used()) co_return;
  std::erase_if(classes_, [&](const auto& entry) { return entry.second == watch; });
  co_await watch->Stop();
}

}  // namespace controllers
