#include "tests/fuzz/evaluators.h"

#include <algorithm>
#include <cctype>

#include "pkg/api/object_meta.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/ironcore/ironcore_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/quota/object_counter.h"

namespace fuzz {
namespace {

// "Pod" and "pods", "MachineClass" and "machineclasses".
bool IsPluralOf(std::string_view plural, std::string_view kind) {
  if (plural.size() <= kind.size()) return false;
  const std::string_view ending = plural.substr(kind.size());
  const auto same = [](char a, char b) {
    return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
  };
  return (ending == "s" || ending == "es") &&
         std::equal(kind.begin(), kind.end(), plural.begin(),
                    [&](char b, char a) { return same(a, b); });
}

std::vector<quota::Evaluator> AllEvaluators() {
  std::vector<quota::Evaluator> all;
  for (const quota::QuotaApi& api : QuotaApis()) {
    all.insert(all.end(), api.evaluators.begin(), api.evaluators.end());
  }
  all.push_back(quota::CountObjects({.group = "apps", .resource = "deployments"}, {}));
  return all;
}

const std::vector<quota::Evaluator>& Evaluators() {
  static const std::vector<quota::Evaluator> all = AllEvaluators();
  return all;
}

}  // namespace

const std::vector<quota::QuotaApi>& QuotaApis() {
  static const std::vector<quota::QuotaApi> apis = {
      quota::CoreQuotaApi(), quota::IroncoreQuotaApi(), quota::KarmadaQuotaApi(),
      quota::ClusterQuotaApi()};
  return apis;
}

const quota::QuotaApi& ApiOf(const json::Value& quota) {
  for (const quota::QuotaApi& api : QuotaApis()) {
    const bool same =
        api::Kind(quota) == api.kind && api::ApiVersion(quota) == api.resource.GroupVersion();
    if (same) return api;
  }
  return QuotaApis().front();
}

const quota::Evaluator& EvaluatorOf(const json::Value& object) {
  const std::string_view kind = api::Kind(object);
  const auto found = std::ranges::find_if(Evaluators(), [&](const quota::Evaluator& evaluator) {
    return IsPluralOf(evaluator.resource.resource, kind);
  });
  return found != Evaluators().end() ? *found : Evaluators().back();
}

const quota::ClassSource* ClassSourceOf(const json::Value& object) {
  for (const quota::Evaluator& evaluator : Evaluators()) {
    const bool of_kind = evaluator.classes && evaluator.classes->usage_of &&
                         IsPluralOf(evaluator.classes->resource.resource, api::Kind(object));
    if (of_kind) return &*evaluator.classes;
  }
  return nullptr;
}

std::vector<std::string> WithIdentity(std::vector<std::string> fields) {
  for (const char* name : {"namespace", "name", "uid", "resourceVersion"}) {
    fields.push_back(std::string("metadata.") + name);
  }
  return fields;
}

bool HasNoMinus(const json::Value& value) {
  const std::string* const text = value.AsString();
  if (text != nullptr) {
    const std::size_t first = text->find_first_not_of(" \t\r\n\v\f");
    return first == std::string::npos || (*text)[first] != '-';
  }
  if (const json::Number* number = value.AsNumber()) return !number->text.starts_with('-');
  if (const json::Array* array = value.AsArray()) return std::ranges::all_of(*array, HasNoMinus);
  const json::Object* const object = value.AsObject();
  return object == nullptr || std::all_of(object->begin(), object->end(), [](const auto& member) {
           return HasNoMinus(member.second);
         });
}

}  // namespace fuzz
