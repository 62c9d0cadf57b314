#include "pkg/quota/cluster_status.h"

#include <utility>
#include <vector>

#include "pkg/json/index.h"

namespace quota {

const std::vector<std::string>& FurtherStatusMembers() {
  static const std::vector<std::string> members = {"observedGeneration", "summary",  "available",
                                                   "namespaces",         "children", "largest",
                                                   "conditions"};
  return members;
}

std::string SummaryOf(const QuotaStatus& status) {
  std::string summary;
  for (const auto& [name, limit] : status.hard) {
    const Quantity* used = status.used.Find(name);
    summary += (summary.empty() ? "" : ", ") + name + ": ";
    summary += (used != nullptr ? used->ToString() : "?") + "/" + limit.ToString();
  }
  return summary;
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
  const auto before = json::IndexOf(stored);
  std::vector<json::Member> difference;
  for (const auto& [name, value] : desired) {
    const auto found = before.find(name);
    const json::Value* old = found != before.end() ? found->second : nullptr;
    if (old != nullptr && *old == value) continue;
    const bool objects = old != nullptr && old->IsObject() && value.IsObject();
    if (!objects) {
      difference.emplace_back(name, value);
      continue;
    }
    const json::Object inner = FurtherDifference(*old->AsObject(), *value.AsObject());
    std::vector<json::Member> members(inner.begin(), inner.end());
    const auto wanted = json::IndexOf(*value.AsObject());
    for (const auto& [gone, unused] : *old->AsObject()) {
      if (!wanted.contains(gone)) members.emplace_back(gone, nullptr);
    }
    difference.emplace_back(name, json::Object::FromMembers(std::move(members)));
  }
  return json::Object::FromMembers(std::move(difference));
}

}  // namespace quota
