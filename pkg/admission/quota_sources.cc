#include "pkg/admission/quota_sources.h"

#include <glog/logging.h>

#include <algorithm>
#include <set>
#include <utility>

namespace admission {

UsesBooks::UsesBooks(QuotaSource& source) : source_(source) {
  CHECK(source_.open) << "quotas of " << source_.api.name << " are used while there are none";
  ++source_.asks;
}

UsesBooks::~UsesBooks() {
  CHECK(source_.asks > 0 && source_.book != nullptr && source_.objects != nullptr)
      << "the quotas of " << source_.api.name << " went while a review used them";
  --source_.asks;
}

void QuotaSources::Add(const quota::QuotaApi& api, bool advises) {
  const auto is_same = [&](const auto& source) { return source->api.name == api.name; };
  CHECK(std::ranges::none_of(sources_, is_same)) << api.name << " is added twice";
  sources_.push_back(std::make_unique<QuotaSource>(api, advises));
  std::ranges::sort(sources_, {}, [](const auto& source) {
    return std::pair(source->api.form.cluster, source->api.name);
  });
}

QuotaSource& QuotaSources::Of(const std::string& quota_api) const {
  const auto found =
      std::ranges::find(sources_, quota_api, [](const auto& source) { return source->api.name; });
  CHECK(found != sources_.end()) << quota_api << " is neither enforced nor advises";
  return **found;
}

void QuotaSources::Open(const std::string& quota_api, QuotaBook& quotas, ObjectBook& objects) {
  QuotaSource& source = Of(quota_api);
  CHECK(!source.open && source.asks == 0) << quota_api << " is open already";
  CHECK(source.book == nullptr) << quota_api << " is opened while it is being closed";
  source.known = source.open = true;
  source.book = &quotas;
  source.objects = &objects;
}

void QuotaSources::HasNone(const std::string& quota_api) {
  QuotaSource& source = Of(quota_api);
  CHECK(!source.open) << quota_api << " has quotas";
  source.known = true;
}

std::vector<std::string> QuotaSources::Enforced() const {
  std::vector<std::string> names;
  for (const auto& source : sources_) {
    if (!source->advises) names.push_back(source->api.name);
  }
  return names;
}

// Remembers nothing for a resource without wanted fields: the request may name any resource.
std::vector<std::string> QuotaSources::FieldsOf(const api::GroupResource& resource) {
  std::uint64_t changes = 0;
  for (const auto& source : sources_) changes += source->api.evaluators.changes();
  if (std::exchange(fields_as_of_, changes) != changes) fields_.clear();
  const auto known = fields_.find(resource);
  if (known != fields_.end()) return known->second;
  std::set<std::string> fields;
  for (const auto& source : sources_) {
    const auto evaluator = source->api.evaluators.Find(resource);
    if (evaluator == nullptr) continue;
    fields.insert(evaluator->fields.begin(), evaluator->fields.end());
    fields.insert(evaluator->guard.fields.begin(), evaluator->guard.fields.end());
  }
  if (fields.empty()) return {};
  return fields_[resource] = {fields.begin(), fields.end()};
}

}  // namespace admission
