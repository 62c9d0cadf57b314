#include "controllers/usage/shared_watch.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace controllers {

std::unique_ptr<metrics::InformerMetrics> NewInformerMetrics(
    const TrackingContext& context, std::string name, const api::GroupVersionResource& resource) {
  if (context.registry == nullptr) return nullptr;
  const metrics::InformerMetrics::Names names{.name = std::move(name),
                                              .group = resource.group,
                                              .version = resource.version,
                                              .resource = resource.resource};
  return std::make_unique<metrics::InformerMetrics>(*context.registry, names);
}

std::unique_ptr<informers::Reflector> NewReflector(const TrackingContext& context,
                                                   api::GroupVersionResource resource,
                                                   std::vector<std::string> fields,
                                                   metrics::InformerMetrics* metrics,
                                                   informers::CollectionSink& sink) {
  informers::ReflectorOptions options = context.reflector;
  options.resource = std::move(resource);
  options.fields = std::move(fields);
  options.metrics = metrics;
  return informers::NewReflector(*context.client, *context.scheduler, sink, std::move(options));
}

SharedWatch::SharedWatch(TrackingContext context, api::GroupVersionResource resource,
                         quota::Evaluator evaluator, const std::vector<std::string>& fields)
    : context_(std::move(context)),
      resource_(std::move(resource)),
      evaluator_(std::move(evaluator)),
      tasks_(context_.executor),
      metrics_(NewInformerMetrics(context_, context_.name, resource_)),
      reflector_(NewReflector(context_, resource_, fields, metrics_.get(), *this)) {}

void SharedWatch::AddUser(UsageListener& user, Classes classes) {
  CHECK(std::ranges::find(users_, &user, &User::listener) == users_.end())
      << "a user is added twice to " << resource_.ToString();
  users_.push_back({&user, std::move(classes)});
}

void SharedWatch::RemoveUser(const UsageListener& user) {
  CHECK_EQ(std::erase_if(users_, [&](const User& one) { return one.listener == &user; }), 1U)
      << "a user is removed that " << resource_.ToString() << " does not have";
}

void SharedWatch::Start() {
  if (std::exchange(running_, true)) return;
  tasks_.Spawn("reflector " + resource_.ToString(), [this] { return reflector_->Run(); });
  StartTasks(tasks_);
}

base::Task<void> SharedWatch::Stop() {
  tasks_.Cancel();
  co_await tasks_.Join();
}

bool SharedWatch::IsOver(const ServedResources& served, ResourceScope scope) const {
  if (served.HasOtherScope(resource_.WithoutVersion(), scope)) return true;
  const auto& trouble = state().trouble;
  const bool refused = state().forbidden || (trouble && trouble->Is(base::ErrorCode::kNotFound));
  return refused && served.LacksVersion(resource_);
}

void SharedWatch::Relist() {
  sync_state_.OnRelist();
  reflector_->Relist();
}

}  // namespace controllers
