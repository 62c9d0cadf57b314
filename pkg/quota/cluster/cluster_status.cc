#include "pkg/quota/cluster/cluster_status.h"

#include <utility>

namespace quota {

const std::vector<std::string>& FurtherStatusMembers() {
  static const std::vector<std::string> members = {"observedGeneration", "available", "namespaces",
                                                   "children",           "largest",   "conditions"};
  return members;
}

json::Object FurtherStatusOf(const json::Value& object) {
  json::Object members;
  for (const std::string& name : FurtherStatusMembers()) {
    const json::Value* value = object.At({"status", name});
    if (value != nullptr && !value->IsNull()) members.Set(name, *value);
  }
  return members;
}

json::Object FurtherDifference(const json::Object& stored, const json::Object& desired) {
  json::Object difference;
  for (const auto& [name, value] : desired) {
    const json::Value* before = stored.Find(name);
    if (before != nullptr && *before == value) continue;
    const bool objects = before != nullptr && before->IsObject() && value.IsObject();
    if (!objects) {
      difference.Set(name, value);
      continue;
    }
    json::Object inner = FurtherDifference(*before->AsObject(), *value.AsObject());
    for (const auto& [old, unused] : *before->AsObject()) {
      if (!value.AsObject()->Contains(old)) inner.Set(old, nullptr);
    }
    difference.Set(name, std::move(inner));
  }
  return difference;
}

}  // namespace quota
