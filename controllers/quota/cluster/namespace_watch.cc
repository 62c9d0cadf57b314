#include "controllers/quota/cluster/namespace_watch.h"

#include <glog/logging.h>

#include <utility>

#include "controllers/usage/namespace_labels.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

// Names that are compared with a list in one turn of the event loop.
constexpr int kNamespacesAStep = 256;

}  // namespace

NamespaceWatch::NamespaceWatch(const TrackingContext& context, Hooks hooks)
    : context_(context),
      hooks_(std::move(hooks)),
      metrics_(NewInformerMetrics(context_, context_.name + "-namespaces", kNamespaces)),
      reflector_(NewReflector(context_, kNamespaces, {"metadata.labels"}, metrics_.get(), *this)) {}

void NamespaceWatch::Relist() {
  sync_state_.OnRelist();
  reflector_->Relist();
}

void NamespaceWatch::BeginList() {
  sync_state_.OnListBegins();
  ++list_;
  // Versions from before this list may come from before a restore of the server.
  newest_.clear();
  swept_.clear();
}

void NamespaceWatch::Upsert(const json::Value& object) {
  const std::string name(api::Name(object));
  api::RaiseVersion(newest_, api::ResourceVersion(object));
  names_[name] = list_;
  hooks_.on_namespace(name, quota::LabelText(object.At({"metadata", "labels"})));
}

void NamespaceWatch::Remove(const json::Value& object) {
  const std::string name(api::Name(object));
  api::RaiseVersion(newest_, api::ResourceVersion(object));
  if (names_.erase(name) > 0) hooks_.on_namespace(name, std::nullopt);
}

bool NamespaceWatch::SweepSome() {
  auto at = names_.upper_bound(swept_);
  for (int i = 0; i < kNamespacesAStep && at != names_.end(); ++i) {
    swept_ = at->first;
    if (at->second == list_) {
      ++at;
    } else {
      at = names_.erase(at);
      hooks_.on_namespace(swept_, std::nullopt);
    }
  }
  return at != names_.end();
}

void NamespaceWatch::EndList() {
  while (SweepSome()) continue;
  if (sync_state_.OnListEnds()) {
    LOG(INFO) << "namespaces listed quota_api=" << context_.name << " namespaces=" << names_.size();
  }
  hooks_.on_state();
}

void NamespaceWatch::OnState() {
  sync_state_.OnState(context_.scheduler->Now(), reflector_->state());
  hooks_.on_state();
}

base::TimePoint NamespaceWatch::BehindUntil() const {
  return sync_state_.BehindUntil(context_.scheduler->Now(), reflector_->state());
}

bool NamespaceWatch::Reaches(std::string_view version) const {
  return api::ReachesVersion(newest_, version) ||
         api::ReachesVersion(reflector_->state().resource_version, version);
}

}  // namespace controllers
