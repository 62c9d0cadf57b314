#pragma once

// The watches of all quota APIs in this process: tracked resources, and the classes that they read.
// Quota APIs with the same evaluators (QuotaApi::CountsAs()) share one watch and one ledger for
// each resource, and one watch of its classes.
//
// Single-threaded. It must outlive all trackers that use it.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "controllers/usage/class_watch.h"
#include "controllers/usage/tracked_resource.h"
#include "pkg/quota/quota.h"

namespace controllers {

class SharedResources {
 public:
  // Returns the resource as this evaluator of `api` counts it. `user` is told of its changes until
  // Release(); if others use it already, it may be listed already. The caller limits names and
  // calls Start(). `context` and `classes` as in TrackedResource.
  std::shared_ptr<TrackedResource> Acquire(TrackingContext context, const quota::QuotaApi& api,
                                           const api::GroupVersionResource& resource,
                                           const quota::Evaluator& evaluator, UsageListener& user,
                                           TrackedResource::Classes classes);
  // Nothing is told to `user` any more. Stops the resource if nobody else uses it.
  base::Task<void> Release(std::shared_ptr<TrackedResource> tracked, UsageListener& user);

  // All resources, present and future, are counted by these rules from now on. Each whose facts may
  // be others is read again once, whatever quota APIs use it.
  void Follow(const quota::Rules& rules);

  // The same for the classes that the evaluator reads, in this version. REQUIRES: it reads classes.
  std::shared_ptr<ClassWatch> AcquireClasses(TrackingContext context, const quota::QuotaApi& api,
                                             const api::GroupVersionResource& classes,
                                             const quota::Evaluator& evaluator,
                                             UsageListener& user);
  base::Task<void> ReleaseClasses(std::shared_ptr<ClassWatch> watch, UsageListener& user);

 private:
  quota::Rules rules_;
  // With the name of a quota API, and the revision of the evaluator.
  using Key = std::tuple<std::string, api::GroupVersionResource, std::uint64_t>;
  using ClassKey =
      std::tuple<std::string, api::GroupResource, api::GroupVersionResource, std::uint64_t>;

  std::map<Key, std::shared_ptr<TrackedResource>> resources_;
  std::map<ClassKey, std::shared_ptr<ClassWatch>> classes_;  // with the evaluator's resource
};

}  // namespace controllers
