#include "controllers/quota/namespace_watch.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

// Names that are compared with a list in one turn of the event loop.
constexpr int kNamespacesAStep = 256;

}  // namespace

const api::GroupVersionResource& NamespaceWatch::resource() {
  static const api::GroupVersionResource namespaces{"", "v1", "namespaces"};
  return namespaces;
}

NamespaceWatch::NamespaceWatch(TrackingContext context, Callbacks callbacks)
    : context_(std::move(context)),
      callbacks_(std::move(callbacks)),
      tasks_(context_.executor),
      wake_(context_.scheduler->NewAlarm()),
      metrics_(NewInformerMetrics(context_, context_.name + "-namespaces", resource())),
      started_(context_.scheduler->Now()) {
  informers::ReflectorOptions options = context_.reflector;
  options.resource = resource();
  options.fields = {"metadata.labels"};
  options.metrics = metrics_.get();
  reflector_ =
      informers::NewReflector(*context_.client, *context_.scheduler, *this, std::move(options));
}

base::Task<void> NamespaceWatch::Run(std::function<bool()> work) {
  co_await base::DeferCancellation();
  tasks_.Spawn("namespaces", [this] { return reflector_->Run(); });
  while (!co_await base::Stopping()) {
    if (work()) {
      co_await base::NextTurn();
    } else {
      co_await wake_->WaitUntil(base::TimePoint::max());
    }
  }
  tasks_.Cancel();
  co_await tasks_.Join();
}

void NamespaceWatch::Relist() {
  completeness_.OnRelist();
  reflector_->Relist();
}

void NamespaceWatch::BeginList() {
  completeness_.OnListBegins();
  ++list_;
  // Versions from before this list may come from before a restore of the server.
  newest_.clear();
  swept_.clear();
}

void NamespaceWatch::Upsert(const json::Value& object) {
  const std::string name(api::Name(object));
  const json::Value* const labels = object.At({"metadata", "labels"});
  NoteVersion(object);
  names_[name] = list_;
  callbacks_.on_namespace(name, labels != nullptr ? *labels : json::Value());
}

void NamespaceWatch::Remove(const json::Value& object) {
  const std::string name(api::Name(object));
  NoteVersion(object);
  if (names_.erase(name) > 0) callbacks_.on_namespace(name, std::nullopt);
}

void NamespaceWatch::NoteVersion(const json::Value& object) {
  api::RaiseVersion(newest_, api::ResourceVersion(object));
}

bool NamespaceWatch::SweepSome() {
  auto at = names_.upper_bound(swept_);
  for (int i = 0; i < kNamespacesAStep && at != names_.end(); ++i) {
    swept_ = at->first;
    if (at->second == list_) {
      ++at;
    } else {
      at = names_.erase(at);
      callbacks_.on_namespace(swept_, std::nullopt);
    }
  }
  return at != names_.end();
}

void NamespaceWatch::EndList() {
  while (SweepSome()) continue;
  if (completeness_.OnListEnds()) {
    LOG(INFO) << "namespaces listed quota_api=" << context_.name << " namespaces=" << names_.size();
  }
  callbacks_.on_state();
}

void NamespaceWatch::OnState() {
  completeness_.OnState(context_.scheduler->Now(), state());
  callbacks_.on_state();
}

}  // namespace controllers
