#include "pkg/webhook/exempt_namespaces.h"

#include <utility>
#include <vector>

#include "pkg/api/object_meta.h"

namespace webhook {
namespace {

const api::GroupVersionResource kExemptNamespaces{"", "v1", "namespaces"};

informers::ReflectorOptions Labelled(informers::ReflectorOptions options,
                                     std::string label_selector) {
  options.resource = kExemptNamespaces;
  options.fields = {"metadata.labels"};
  options.label_selector = std::move(label_selector);
  return options;
}

}  // namespace

ExemptNamespaces::ExemptNamespaces(base::Scheduler& scheduler, client::ApiClient& client,
                                   Names names, std::string label_selector,
                                   informers::ReflectorOptions options,
                                   std::function<void()> on_change)
    : named_(std::move(names)),
      all_(std::make_shared<Names>(named_)),
      on_change_(std::move(on_change)) {
  if (label_selector.empty()) return;
  reflector_ = informers::NewReflector(client, scheduler, *this,
                                       Labelled(std::move(options), std::move(label_selector)));
}

base::Task<void> ExemptNamespaces::Run() {
  if (reflector_) co_await reflector_->Run();
}

void ExemptNamespaces::Upsert(const json::Value& object) {
  std::string ns(api::Name(object));
  const bool added = all_->insert(ns).second;
  listed_.insert(std::move(ns));
  if (added && on_change_) on_change_();
}

void ExemptNamespaces::Remove(const json::Value& object) { Forget(std::string(api::Name(object))); }

void ExemptNamespaces::Forget(const std::string& ns) {
  if (named_.contains(ns) || all_->erase(ns) == 0) return;
  if (on_change_) on_change_();
}

void ExemptNamespaces::EndList() {
  const std::vector<std::string> known(all_->begin(), all_->end());
  for (const std::string& ns : known) {
    if (!listed_.contains(ns)) Forget(ns);
  }
  listed_.clear();
}

}  // namespace webhook
