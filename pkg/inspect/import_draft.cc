#include "pkg/inspect/import_draft.h"

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/uncountable_names.h"

namespace inspect {
namespace {

const quota::QuotaApi& Api() {
  static const quota::QuotaApi api = quota::ClusterQuotaApi();
  return api;
}

// Returns the quota as the daemon reads it once it is stored.
base::Result<quota::Quota> Stored(json::Value object) {
  object.Make({"metadata", "uid"}) = "new";
  object.Make({"metadata", "resourceVersion"}) = "new";
  auto quota = quota::ParseQuota(object, Api().form);
  if (quota && !quota->unreadable.why.empty()) {
    return base::Error{.code = base::ErrorCode::kMalformed, .message = quota->unreadable.why};
  }
  return quota;
}

std::string TextOf(const api::LabelRequirement& requirement) {
  using Operator = api::LabelOperator;
  const std::string values = base::Join(requirement.values, ",");
  if (requirement.op == Operator::kDoesNotExist) return "!" + requirement.key;
  if (requirement.op == Operator::kNotIn) return requirement.key + " notin (" + values + ")";
  if (requirement.op != Operator::kIn) return requirement.key;
  if (requirement.values.size() == 1) return requirement.key + "=" + values;
  return requirement.key + " in (" + values + ")";
}

std::string TextOf(const quota::Quota& quota, std::string_view set_by) {
  if (!quota.cluster->selector) return "selects no namespace";
  if (quota.cluster->selector->empty()) return "selects all namespaces";
  std::vector<std::string> parts;
  for (const auto& requirement : quota.cluster->selector->requirements()) {
    parts.push_back(TextOf(requirement));
  }
  std::string text = "selects namespaces with " + base::Join(parts, ",");
  if (!set_by.empty()) {
    text += ", which " + std::string(set_by) + " sets: label them yourself before you remove it";
  }
  return text;
}

std::string WhyUncountable(const std::string& name) {
  const bool domain = name.find('/') != std::string::npos && !name.starts_with("count/") &&
                      !name.starts_with("requests.");
  return "a name that can never be counted" +
         (domain ? " (did you mean requests." + name + "?)" : "");
}

}  // namespace

void ImportDraft::Begin(const Manifest& manifest) {
  const std::string ns(api::Namespace(manifest.object));
  from_ = manifest.where.empty() ? "" : manifest.where + ": ";
  from_ += NameOf(manifest.object).ToString();
  if (!ns.empty()) from_ += " in namespace " + ns;
  before_ = imported_.rows.size();
}

void ImportDraft::Row(const std::string& field, const std::string& to, const std::string& why,
                      bool lost) {
  imported_.rows.push_back({from_, field, to, why, lost});
}

void ImportDraft::Keep(const std::string& field, const std::string& why) {
  Row(field, "stays", why, false);
}

void ImportDraft::Lose(const std::string& field, const std::string& why) {
  Row(field, "nothing", why, true);
}

void ImportDraft::LoseOthers(const json::Value& at, const std::string& field,
                             const std::set<std::string_view>& known) {
  if (!at.IsObject()) return Lose(field, "must be an object, not " + std::string(at.TypeName()));
  const std::string inside = field + ".";
  for (const auto& [name, value] : *at.AsObject()) {
    if (!known.contains(name)) Lose(inside + name, "import does not know this field");
  }
}

bool ImportDraft::IsReadable(const std::string& field, const json::Value& quota) {
  const auto read = Stored(quota);
  if (!read) Lose(field, read.error().message);
  return read.has_value();
}

// REQUIRES: the quota can be read.
void ImportDraft::LoseUncountable(const std::string& field, json::Value& quota) {
  json::Value& hard = quota.Make({"spec", "hard"});
  for (const std::string& name : quota::UncountableNames(Api(), Stored(quota)->hard)) {
    Lose(std::string(field).append(".hard[").append(name).append("]"), WhyUncountable(name));
    hard.AsObject()->Erase(name);
  }
}

void ImportDraft::Write(const std::string& field, const std::string& name,
                        const json::Value& limits, json::Value selector, std::string_view set_by) {
  LoseOthers(limits, field, {"hard", "scopes", "scopeSelector"});
  if (!limits.IsObject()) return;
  json::Value quota =
      json::Object{{"apiVersion", Api().resource.GroupVersion()}, {"kind", Api().kind}};
  quota.Make({"metadata", "name"}) = name;
  quota.Make({"spec", "enforcement"}) = enforcement_;
  quota.Make({"spec", "namespaceSelector"}) = std::move(selector);
  quota.Make({"spec", "hard"}) = json::Object();
  for (const char* member : {"hard", "scopes", "scopeSelector"}) {
    const json::Value* value = limits.At({member});
    if (value != nullptr && !value->IsNull()) quota.Make({"spec", member}) = *value;
  }
  if (!IsReadable(field, quota)) return;
  LoseUncountable(field, quota);
  if (quota.At({"spec", "hard"})->AsObject()->empty()) return Keep(field, "it limits nothing");
  if (!names_.insert(name).second) {
    return Lose(field, "another object became clusterquota/" + name + " already");
  }
  Row(field, "clusterquota/" + name, TextOf(*Stored(quota), set_by), false);
  imported_.quotas.push_back({std::move(quota), from_ + ", " + field});
}

}  // namespace inspect
