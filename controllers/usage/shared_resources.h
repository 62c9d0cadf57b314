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
  // The same for the classes that the evaluator reads, in this version. REQUIRES: it reads classes.
  std::shared_ptr<ClassWatch> AcquireClasses(TrackingContext context, const quota::QuotaApi& api,
                                             const api::GroupVersionResource& classes,
                                             const quota::Evaluator& evaluator,
                                             UsageListener& user);
  // Nothing is told to `user` any more. Stops the watch if nobody else uses it.
  base::Task<void> Release(std::shared_ptr<SharedWatch> watch, const UsageListener& user);

  // All resources, present and future, are counted by these rules from now on. Each whose facts may
  // be others is read again once, whatever quota APIs use it.
  void Follow(const quota::Rules& rules);

 private:
  // The name of a quota API, the evaluator's resource and revision, and what is watched for it.
  using Key = std::tuple<std::string, api::GroupResource, std::uint64_t, api::GroupVersionResource>;

  quota::Rules rules_;
  std::map<Key, std::shared_ptr<TrackedResource>> resources_;
  std::map<Key, std::shared_ptr<ClassWatch>> classes_;
};

}  // namespace controllers
