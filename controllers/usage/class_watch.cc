#include "controllers/usage/class_watch.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/json/value.h"

namespace controllers {

ClassWatch::ClassWatch(TrackingContext context, api::GroupVersionResource resource,
                       const quota::Evaluator& evaluator)
    : SharedWatch(std::move(context), std::move(resource), evaluator, evaluator.classes->fields),
      table_(evaluator.classes->missing, evaluator.classes->called) {}

void ClassWatch::TellChange(const std::string& name) const {
  for (const User& user : users()) user.listener->OnClassChange(evaluator(), name);
}

void ClassWatch::BeginList() {
  sync_state().OnListBegins();
  table_.BeginSweep();
}

void ClassWatch::Upsert(const json::Value& object) {
  const std::string name(api::Name(object));
  base::Result<quota::ClassUsage> one = evaluator().classes->usage_of(object);
  const bool unreadable = !one;
  const bool incomplete = one && !one->unknown.empty();
  const std::string why = unreadable   ? one.error().message
                          : incomplete ? one->unknown.begin()->second
                                       : "";
  // Any object of the cluster may be a class, also one that changes every few seconds.
  if (!table_.Set(name, std::move(one))) return;
  if (unreadable) {
    SayUnknown(name, "class cannot be read; the usage of its objects is unknown", why);
  } else if (incomplete) {
    SayUnknown(name, "class lacks amounts; the usage of its objects under these names is unknown",
               why);
  }
  // During the first list no class is reported: EndList() reports them all by OnClassState().
  if (listed()) TellChange(name);
}

void ClassWatch::SayUnknown(const std::string& name, std::string_view what,
                            const std::string& why) {
  const auto more = lines_.Take(name, Now());
  if (!more) return;
  LOG(WARNING) << what << " resource=" << resource().ToString() << " class=" << name << *more
               << " error=" << json::Quote(why);
}

void ClassWatch::Remove(const json::Value& object) {
  const std::string name(api::Name(object));
  if (table_.Remove(name) && listed()) TellChange(name);
}

void ClassWatch::EndList() {
  const std::vector<std::string> removed = table_.EndSweep();
  if (sync_state().OnListEnds()) {
    LOG(INFO) << "reading classes resource=" << resource().ToString()
              << " classes=" << table_.size();
  }
  for (const std::string& name : removed) TellChange(name);
  OnState();
}

void ClassWatch::OnState() {
  for (const User& user : users()) user.listener->OnClassState(evaluator());
}

}  // namespace controllers
