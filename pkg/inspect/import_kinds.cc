#include "pkg/inspect/import_kinds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/api/object_meta.h"
#include "pkg/api/selector.h"
#include "pkg/base/text.h"
#include "pkg/quota/count_name.h"

namespace inspect {
namespace {

constexpr std::string_view kCustomPrefix = "quota.resources.capsule.clastix.io/";

bool IsSet(const json::Value* value) { return value != nullptr && !value->IsNull(); }

// True if there is something in it: an exporter writes empty fields, too.
bool IsFilled(const json::Value* value) {
  if (!IsSet(value)) return false;
  if (const json::Object* object = value->AsObject()) return !object->empty();
  if (const json::Array* array = value->AsArray()) return !array->empty();
  return value->AsString() == nullptr || !value->AsString()->empty();
}

json::Value WithLabel(std::string_view key, std::string_view value) {
  json::Value selector;
  selector.Make({"matchLabels", key}) = value;
  return selector;
}

json::Value WithKey(const std::string& key) {
  json::Value expression = json::Object{{"key", key}, {"operator", "Exists"}};
  return json::Object{{"matchExpressions", json::Array{std::move(expression)}}};
}

// Reports the members of spec that are about something else.
void KeepOthers(const json::Value& object, const std::vector<std::string_view>& read,
                std::string_view tool, ImportDraft& draft) {
  const json::Value* spec = object.At({"spec"});
  if (spec == nullptr || !spec->IsObject()) return;
  std::vector<std::string> others;
  for (const auto& [name, value] : *spec->AsObject()) {
    if (!base::IsOneOf(name, read) && IsFilled(&value)) others.push_back(name);
  }
  if (others.empty()) return;
  draft.Keep("spec." + base::Join(others, ", "), "no quota: " + std::string(tool) + " keeps it");
}

// "mysqls.databases.acme.corp_v1" is count/mysqls.databases.acme.corp. The name of a custom
// resource has a dot.
std::optional<std::string> CountNameOf(std::string_view custom) {
  const std::size_t version = custom.rfind('_');
  const std::string_view resource = custom.substr(0, version);
  if (version == std::string_view::npos || resource.find('.') == std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(quota::kCountPrefix).append(resource);
}

class TenantReader {
 public:
  TenantReader(const json::Value& tenant, ImportDraft& draft)
      : tenant_(tenant), name_(api::Name(tenant)), draft_(draft) {}

  void Read() {
    ReadQuotas();
    ReadCustom();
    if (IsSet(tenant_.At({"spec", "namespaceOptions", "quota"}))) {
      draft_.Lose("spec.namespaceOptions.quota", "namespaces are not counted");
    }
    KeepOthers(tenant_, {"resourceQuotas"}, "Capsule", draft_);
  }

 private:
  // The list itself in v1alpha1; later an object with the list and its scope.
  void ReadQuotas() {
    const json::Value* quotas = tenant_.At({"spec", "resourceQuotas"});
    const std::string field = "spec.resourceQuotas";
    if (!IsFilled(quotas)) return;
    if (quotas->IsArray()) return ReadItems(*quotas, field);
    draft_.LoseOthers(*quotas, field, {"items", "scope"});
    const json::Value* items = quotas->At({"items"});
    const std::string_view scope = quotas->StringAt({"scope"});
    if (!IsFilled(items)) return;
    if (scope == "Namespace") {
      return draft_.Keep(field, "scope Namespace: a ResourceQuota in each namespace");
    }
    const bool tenant = !IsSet(quotas->At({"scope"})) || scope.empty() || scope == "Tenant";
    if (!tenant) return draft_.Lose(field + ".scope", "must be Tenant or Namespace");
    ReadItems(*items, field + ".items");
  }

  void ReadItems(const json::Value& items, const std::string& field) {
    if (!items.IsArray()) {
      return draft_.Lose(field, "must be a list, not " + std::string(items.TypeName()));
    }
    const json::Array& all = *items.AsArray();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string number = std::to_string(i);
      std::string name = name_;
      if (all.size() > 1) name.append("-").append(number);
      Write(std::string(field).append("[").append(number).append("]"), name, all[i]);
    }
  }

  void ReadCustom() {
    const json::Value* annotations = api::Annotations(tenant_);
    if (annotations == nullptr || !annotations->IsObject()) return;
    json::Object hard;
    for (const auto& [key, value] : *annotations->AsObject()) {
      if (!key.starts_with(kCustomPrefix)) continue;
      const auto name = CountNameOf(std::string_view(key).substr(kCustomPrefix.size()));
      if (name) {
        hard.Set(*name, value);
      } else {
        draft_.Lose("metadata.annotations[" + key + "]",
                    "names no custom resource: must be <plural>.<group>_<version>");
      }
    }
    if (hard.empty()) return;
    json::Value limits;
    limits.Make({"hard"}) = std::move(hard);
    Write("metadata.annotations", name_ + "-custom-resources", limits);
  }

  void Write(const std::string& field, const std::string& name, const json::Value& limits) {
    draft_.Write(field, name, limits, WithLabel("capsule.clastix.io/tenant", name_), "Capsule");
  }

  const json::Value& tenant_;
  const std::string name_;
  ImportDraft& draft_;
};

struct RancherName {
  std::string_view there;
  std::string_view here;
};
constexpr std::array kRancherNames{
    RancherName{"configMaps", "configmaps"},
    RancherName{"limitsCpu", "limits.cpu"},
    RancherName{"limitsMemory", "limits.memory"},
    RancherName{"persistentVolumeClaims", "persistentvolumeclaims"},
    RancherName{"pods", "pods"},
    RancherName{"replicationControllers", "replicationcontrollers"},
    RancherName{"requestsCpu", "requests.cpu"},
    RancherName{"requestsMemory", "requests.memory"},
    RancherName{"requestsStorage", "requests.storage"},
    RancherName{"secrets", "secrets"},
    RancherName{"services", "services"},
    RancherName{"servicesLoadBalancers", "services.loadbalancers"},
    RancherName{"servicesNodePorts", "services.nodeports"},
};

// Adds the limits of a Rancher project. In `extended`, names are those of ResourceQuota.
void AddLimits(const json::Value& limit, const std::string& field, json::Object& hard,
               ImportDraft& draft) {
  const std::string inside = field + ".";
  for (const auto& [name, value] : *limit.AsObject()) {
    const auto* known = std::ranges::find(kRancherNames, name, &RancherName::there);
    if (name == "extended" && value.IsObject()) {
      for (const auto& [own, amount] : *value.AsObject()) hard.Set(own, amount);
    } else if (known == kRancherNames.end()) {
      draft.Lose(inside + name, "import does not know this limit");
    } else if (IsFilled(&value)) {
      hard.Set(known->here, value);
    }
  }
}

}  // namespace

void ImportTenant(const json::Value& tenant, ImportDraft& draft) {
  TenantReader(tenant, draft).Read();
}

void ImportClusterResourceQuota(const json::Value& quota, ImportDraft& draft) {
  static const json::Value nothing{json::Object()};
  const json::Value* spec = quota.At({"spec"});
  if (!IsSet(spec)) return draft.Lose("spec", "is missing");
  draft.LoseOthers(*spec, "spec", {"quota", "selector"});
  const json::Value* selector = spec->At({"selector"});
  if (selector != nullptr) draft.LoseOthers(*selector, "spec.selector", {"annotations", "labels"});
  // Without the annotations the quota would limit more namespaces than it should.
  if (IsFilled(spec->At({"selector", "annotations"}))) {
    return draft.Lose("spec.selector.annotations",
                      "label these namespaces, and select by the label: ClusterQuota does not "
                      "select by annotations, so this quota is not written");
  }
  const json::Value* labels = spec->At({"selector", "labels"});
  if (!IsSet(labels)) return draft.Lose("spec.selector", "selects no namespace");
  const json::Value* limits = spec->At({"quota"});
  draft.Write("spec.quota", std::string(api::Name(quota)), IsSet(limits) ? *limits : nothing,
              *labels, "");
}

void ImportHierarchicalQuota(const json::Value& quota, ImportDraft& draft) {
  static const json::Value nothing{json::Object()};
  const std::string ns(api::Namespace(quota));
  if (ns.empty()) return draft.Lose("metadata.namespace", "is missing: its subtree is limited");
  const json::Value* spec = quota.At({"spec"});
  draft.Write("spec", ns + "-" + std::string(api::Name(quota)), IsSet(spec) ? *spec : nothing,
              WithKey(ns + ".tree.hnc.x-k8s.io/depth"), "HNC");
}

void ImportProject(const json::Value& project, ImportDraft& draft) {
  const std::string field = "spec.resourceQuota";
  const json::Value* limit = project.At({"spec", "resourceQuota", "limit"});
  if (const json::Value* quota = project.At({"spec", "resourceQuota"}); IsSet(quota)) {
    draft.LoseOthers(*quota, field, {"limit", "usedLimit"});
  }
  if (IsSet(limit) && !limit->IsObject()) {
    draft.Lose(field + ".limit", "must be an object, not " + std::string(limit->TypeName()));
  } else if (IsSet(limit)) {
    json::Object hard;
    AddLimits(*limit, field + ".limit", hard, draft);
    json::Value limits;
    limits.Make({"hard"}) = std::move(hard);
    const std::string name(api::Name(project));
    draft.Write(field + ".limit", name, limits, WithLabel("field.cattle.io/projectId", name),
                "Rancher");
  }
  if (IsFilled(project.At({"spec", "namespaceDefaultResourceQuota", "limit"}))) {
    draft.Keep("spec.namespaceDefaultResourceQuota",
               "a ResourceQuota in each namespace; remove it to let namespaces share");
  }
  KeepOthers(project, {"resourceQuota", "namespaceDefaultResourceQuota"}, "Rancher", draft);
}

}  // namespace inspect
