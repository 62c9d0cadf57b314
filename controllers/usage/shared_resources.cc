#include "controllers/usage/shared_resources.h"

#include <glog/logging.h>

#include <utility>

namespace controllers {
namespace {

// Returns the watch of this key, which is made if there is none.
template <typename Watches>
auto Get(Watches& watches, TrackingContext context, const quota::QuotaApi& api,
         const api::GroupVersionResource& resource, const quota::Evaluator& evaluator) {
  using Watch = typename Watches::mapped_type::element_type;
  context.name = api.CountsAs();
  auto& watch = watches[{context.name, evaluator.resource, evaluator.revision, resource}];
  if (watch == nullptr) watch = std::make_shared<Watch>(std::move(context), resource, evaluator);
  return watch;
}

}  // namespace

std::shared_ptr<TrackedResource> SharedResources::Acquire(
    TrackingContext context, const quota::QuotaApi& api, const api::GroupVersionResource& resource,
    const quota::Evaluator& evaluator, UsageListener& user, TrackedResource::Classes classes) {
  auto tracked = Get(resources_, std::move(context), api, resource, evaluator);
  tracked->Follow(rules_);
  tracked->AddUser(user, std::move(classes));
  return tracked;
}

std::shared_ptr<ClassWatch> SharedResources::AcquireClasses(
    TrackingContext context, const quota::QuotaApi& api, const api::GroupVersionResource& classes,
    const quota::Evaluator& evaluator, UsageListener& user) {
  auto watch = Get(classes_, std::move(context), api, classes, evaluator);
  watch->AddUser(user);
  return watch;
}

// The entry goes before the watch stops: whoever acquires it meanwhile gets a new one.
base::Task<void> SharedResources::Release(std::shared_ptr<SharedWatch> watch,
                                          const UsageListener& user) {
  watch->RemoveUser(user);
  if (watch->used()) co_return;
  const auto is_it = [&](const auto& entry) { return entry.second == watch; };
  const std::size_t erased = std::erase_if(resources_, is_it) + std::erase_if(classes_, is_it);
  CHECK_EQ(erased, 1U) << watch->resource().ToString() << " is released, and was not shared";
  co_await watch->Stop();
}

void SharedResources::Follow(const quota::Rules& rules) {
  rules_ = rules;
  for (const auto& [key, tracked] : resources_) tracked->Follow(rules);
}

}  // namespace controllers
