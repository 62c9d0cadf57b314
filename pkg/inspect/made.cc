#include "pkg/inspect/made.h"

#include <algorithm>
#include <map>
#include <string>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/containment.h"

namespace inspect {
namespace {

using json::Value;

// As SetDefaults_Container and parsers.ParseImageName of kubernetes v1.36.3.
std::string_view PullPolicyOf(std::string_view image) {
  const std::size_t digest = image.find('@');
  const std::string_view named = image.substr(0, digest);
  const std::size_t colon = named.rfind(':');
  const bool tagged = colon != std::string_view::npos && named.find('/', colon) == named.npos;
  const bool latest = tagged ? named.substr(colon) == ":latest" : digest == image.npos;
  return latest ? "Always" : "IfNotPresent";
}

// The place of a member in a pod template.
struct Place {
  const json::Object& object;  // that has the member
  std::string_view in;         // the name of the member that holds this object, or its list
};

// True if the API server writes this value where a pod template is silent (kubernetes v1.36.3,
// pkg/apis/core/v1/defaults.go and zz_generated.defaults.go).
bool IsDefault(const Place& place, std::string_view name, const Value& value) {
  static const std::multimap<std::string_view, std::string_view> texts{
      {"terminationMessagePath", "/dev/termination-log"},
      {"terminationMessagePolicy", "File"},
      {"protocol", "TCP"},
      {"dnsPolicy", "ClusterFirst"},
      {"schedulerName", "default-scheduler"},
      {"scheme", "HTTP"},
      {"apiVersion", "v1"},
      {"path", "/"},
      {"type", ""},
      {"volumeMode", "Filesystem"}};
  static const std::multimap<std::string_view, std::int64_t> numbers{
      {"terminationGracePeriodSeconds", 30},
      {"defaultMode", 420},
      {"periodSeconds", 10},
      {"timeoutSeconds", 1},
      {"successThreshold", 1},
      {"failureThreshold", 3},
      {"expirationSeconds", 3600}};
  // A copy of serviceAccountName.
  if (name == "serviceAccount") return true;
  if (name == "imagePullPolicy") {
    const Value* image = place.object.Find("image");
    return value == Value(PullPolicyOf(image == nullptr ? "" : image->StringAt({})));
  }
  // That of an init container has no default: it makes a sidecar of it.
  if (name == "restartPolicy") return place.in == "spec" && value == Value("Always");
  if (value.IsNull() || json::Write(value) == "{}" || json::Write(value) == "[]") return true;
  const auto has = [&](const auto& table, const auto& wanted) {
    const auto [first, last] = table.equal_range(name);
    return std::any_of(first, last, [&](const auto& row) { return row.second == wanted; });
  };
  if (value.AsString() != nullptr) return has(texts, std::string_view(*value.AsString()));
  const auto number = value.AsInt64();
  return number && has(numbers, *number);
}

// True if everything that `part` has beyond `whole` is a default. `in`: as in Place.
bool AddsDefaults(const Value& part, const Value& whole, std::string_view in) {
  if (HoldsAmounts(in)) return IsContained(part, whole, true);  // without defaults
  if (const json::Object* object = part.AsObject()) {
    return whole.IsObject() && std::ranges::all_of(*object, [&](const auto& member) {
             const auto& [name, value] = member;
             const Value* other = whole.AsObject()->Find(name);
             return other == nullptr || other->IsNull() ? IsDefault({*object, in}, name, value)
                                                        : AddsDefaults(value, *other, name);
           });
  }
  if (const json::Array* array = part.AsArray()) {
    const json::Array* other = whole.AsArray();
    return other != nullptr && array->size() == other->size() &&
           std::equal(array->begin(), array->end(), other->begin(),
                      [&](const Value& a, const Value& b) { return AddsDefaults(a, b, in); });
  }
  return IsContained(part, whole);
}

// Returns the template without what controllers add.
Value Plain(Value pod_template) {
  if (!pod_template.IsObject()) return pod_template;
  pod_template.AsObject()->Erase("$patch");
  for (const char* label : {"pod-template-hash", "controller-revision-hash"}) {
    if (pod_template.At({"metadata", "labels", label}) == nullptr) continue;
    pod_template.Make({"metadata", "labels"}).AsObject()->Erase(label);
  }
  if (pod_template.At({"metadata"}) != nullptr && pod_template.At({"metadata"})->IsObject()) {
    pod_template.Make({"metadata"}).AsObject()->Erase("creationTimestamp");
  }
  return pod_template;
}

// Returns the template of a ControllerRevision or a ReplicaSet; nullptr if it has none.
const Value* TemplateIn(const Value& revision) {
  const Value* data = revision.At({"data", "spec", "template"});
  return data != nullptr ? data : revision.At({"spec", "template"});
}

}  // namespace

bool IsOwnedBy(const Value& object, std::string_view uid) {
  const auto owners = object.ArrayAt({"metadata", "ownerReferences"});
  return !uid.empty() && std::ranges::any_of(owners, [&](const Value& owner) {
    return owner.StringAt({"uid"}) == uid;
  });
}

bool SameTemplate(const Value& a, const Value& b) {
  const Value first = Plain(a);
  const Value second = Plain(b);
  return AddsDefaults(first, second, "") && AddsDefaults(second, first, "");
}

const Value* RevisionOf(const Made& made, const Value& pod_template) {
  const auto found = std::ranges::find_if(made.revisions, [&](const Value& revision) {
    const Value* own = TemplateIn(revision);
    return own != nullptr && SameTemplate(*own, pod_template);
  });
  return found == made.revisions.end() ? nullptr : &*found;
}

bool IsOfRevision(const Value& pod, const Value& revision) {
  if (IsOwnedBy(pod, api::Uid(revision))) return true;
  // Pods of StatefulSets have the name of the revision, those of DaemonSets its hash.
  const std::string_view hash = pod.StringAt({"metadata", "labels", "controller-revision-hash"});
  return !hash.empty() &&
         (hash == api::Name(revision) ||
          hash == revision.StringAt({"metadata", "labels", "controller-revision-hash"}));
}

std::vector<Value> WithClaims(const Value& pod, const Made& made) {
  std::vector<Value> objects{pod};
  const auto [first, last] = made.claims.equal_range(api::Uid(pod));
  for (auto claim = first; claim != last; ++claim) objects.push_back(claim->second);
  return objects;
}

}  // namespace inspect
