#include "controllers/usage/class_watch.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/json/value.h"

namespace controllers {

ClassWatch::ClassWatch(TrackingContext context, api::GroupVersionResource resource,
                       quota::Evaluator evaluator)
    : context_(std::move(context)),
      resource_(std::move(resource)),
      evaluator_(std::move(evaluator)),
      table_(evaluator_.classes->missing, evaluator_.classes->called),
      tasks_(context_.executor),
      metrics_(NewInformerMetrics(context_, context_.name, resource_)) {
  reflector_ = NewReflector(context_, resource_, evaluator_.classes->fields, metrics_.get(), *this);
}

void ClassWatch::Start() {
  if (std::exchange(running_, true)) return;
  tasks_.Spawn("classes " + resource_.ToString(), [this] { return reflector_->Run(); });
}

base::Task<void> ClassWatch::Stop() {
  tasks_.Cancel();
  co_await tasks_.Join();
}

void ClassWatch::BeginList() {
  sync_state_.OnListBegins();
  table_.BeginSweep();
}

void ClassWatch::Upsert(const json::Value& object) {
  const std::string name(api::Name(object));
  base::Result<quota::ClassUsage> one = evaluator_.classes->usage_of(object);
  const bool incomplete = one && !one->unknown.empty();
  const std::string why = !one         ? one.error().message
                          : incomplete ? one->unknown.begin()->second
                                       : "";
  const bool unreadable = !one;
  const bool changed = table_.Set(name, std::move(one));
  // Any object of the cluster may be a class, also one that changes every few seconds.
  if (changed && unreadable) {
    LOG(WARNING) << "class cannot be read; the usage of its objects is unknown resource="
                 << resource_.ToString() << " class=" << name << " error=" << json::Quote(why);
  }
  if (changed && incomplete) {
    LOG(WARNING) << "class lacks amounts; the usage of its objects under these names is unknown "
                    "resource="
                 << resource_.ToString() << " class=" << name << " error=" << json::Quote(why);
  }
  // During the first list no class is reported: EndList() reports them all by OnClassState().
  if (changed && sync_state_.listed()) users_.OnClassChange(evaluator_, name);
}

void ClassWatch::Remove(const json::Value& object) {
  const std::string name(api::Name(object));
  if (table_.Remove(name) && sync_state_.listed()) users_.OnClassChange(evaluator_, name);
}

void ClassWatch::EndList() {
  const std::vector<std::string> removed = table_.EndSweep();
  if (sync_state_.OnListEnds()) {
    LOG(INFO) << "reading classes resource=" << resource_.ToString()
              << " classes=" << table_.size();
  }
  for (const std::string& name : removed) users_.OnClassChange(evaluator_, name);
  users_.OnClassState(evaluator_);
}

void ClassWatch::OnState() { users_.OnClassState(evaluator_); }

}  // namespace controllers
