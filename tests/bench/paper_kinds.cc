#include "tests/bench/paper_kinds.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "pkg/quantity/quantity.h"

namespace bench {
namespace {

constexpr int kSizes = 10;        // of storage: 1Gi … 10Gi
constexpr int kChangedSize = 64;  // Gi
constexpr int kReplicas = 3;
constexpr int kIops = 1000;
constexpr int kPools = 5;
constexpr std::array<const char*, kClasses> kClassNames{"bronze", "gold", "silver"};

std::string Numbered(const char* format, int number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

json::Value Pool(int number) {
  const std::string name = Numbered("pool-%d", number);
  json::Array tolerations;
  for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    tolerations.push_back(json::Object{
        {"effect", "NoExecute"}, {"key", key}, {"operator", "Exists"}, {"tolerationSeconds", 300}});
  }
  json::Array environment;
  for (int i = 0; i < 5; ++i) {
    environment.push_back(json::Object{{"name", Numbered("BENCH_SETTING_%02d", i)},
                                       {"value", "a value of some length, as in a deployment"}});
  }
  return json::Object{
      {"cpu", "500m"},
      {"env", std::move(environment)},
      {"memory", "2Gi"},
      {"name", name},
      {"nodeSelector", json::Object{{"kubernetes.io/arch", "amd64"}, {"pool", name}}},
      {"replicas", 2},
      {"tolerations", std::move(tolerations)}};
}

json::Value Parameters() {
  json::Value parameters = json::Object{};
  for (int i = 0; i < 24; ++i) {
    parameters.Make({Numbered("settings.section-%02d.value", i)}) = "on, with 128MB of buffers";
  }
  return parameters;
}

json::Value Spec() {
  json::Array pools;
  for (int i = 0; i < kPools; ++i) pools.push_back(Pool(i));
  return json::Object{{"backup", json::Object{{"retention", "30d"}, {"schedule", "0 0 * * *"}}},
                      {"image",
                       "registry.example.com/bench/server:17.2-"
                       "3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea"},
                      {"parameters", Parameters()},
                      {"pools", std::move(pools)},
                      {"replicas", kReplicas},
                      {"storage", json::Object{{"class", "fast"}, {"size", "@SIZE@"}}},
                      {"tier", "@TIER@"}};
}

json::Value Status() {
  json::Array conditions;
  for (const char* type : {"Ready", "Progressing", "BackedUp", "Archiving", "Available"}) {
    conditions.push_back(
        json::Object{{"lastTransitionTime", "2026-11-28T08:00:00Z"},
                     {"message", "the instances are ready, and the last backup was completed"},
                     {"observedGeneration", 3},
                     {"reason", std::string(type) + "AsExpected"},
                     {"status", "True"},
                     {"type", type}});
  }
  json::Array instances;
  for (int i = 0; i < 6; ++i) {
    instances.push_back(json::Object{{"ip", Numbered("10.244.3.%d", i)},
                                     {"name", Numbered("@NAME@-%d", i)},
                                     {"node", Numbered("worker-%d.example.com", i)},
                                     {"ready", true},
                                     {"timeline", 4}});
  }
  return json::Object{{"conditions", std::move(conditions)},
                      {"instances", std::move(instances)},
                      {"observedGeneration", 3},
                      {"phase", "Running"}};
}

// The fields of `value`, as server-side apply writes them.
json::Value FieldsOf(const json::Value& value) {
  json::Value fields = json::Object{};
  if (const json::Object* object = value.AsObject()) {
    for (const auto& [name, member] : *object) {
      fields.Make({"f:" + std::string(name)}) = FieldsOf(member);
    }
  } else if (const json::Array* list = value.AsArray()) {
    for (const json::Value& element : *list) {
      const std::string_view name = element.StringAt({"name"});
      const std::string_view key = name.empty() ? element.StringAt({"type"}) : name;
      const std::string named = R"(k:{"name":")" + std::string(key) + R"("})";
      fields.Make({named}) = FieldsOf(element);
    }
  }
  return fields;
}

json::Value Managed(const char* manager, const char* member, const json::Value& value) {
  return json::Object{{"apiVersion", "bench.example/v1"},
                      {"fieldsType", "FieldsV1"},
                      {"fieldsV1", json::Object{{std::string("f:") + member, FieldsOf(value)}}},
                      {"manager", manager},
                      {"operation", "Update"},
                      {"time", "2026-11-28T08:00:00Z"}};
}

// Without what differs from object to object: "@NAME@" and others stand there.
json::Value Sample() {
  const json::Value spec = Spec();
  const json::Value status = Status();
  json::Value managed = json::Array{};
  managed.AsArray()->push_back(Managed("kubectl-client-side-apply", "spec", spec));
  managed.AsArray()->push_back(Managed("operator", "status", status));
  const json::Value applied = json::Object{{"apiVersion", "bench.example/v1"}, {"spec", spec}};
  return json::Object{
      {"apiVersion", "bench.example/v1"},
      {"kind", "@KIND@"},
      {"metadata",
       json::Object{
           {"annotations", json::Object{{"kubectl.kubernetes.io/last-applied-configuration",
                                         json::Write(applied)}}},
           {"creationTimestamp", "2026-11-28T08:00:00Z"},
           {"finalizers", json::Array{"bench.example/cleanup"}},
           {"generation", 3},
           {"labels", json::Object{{"app.kubernetes.io/managed-by", "operator"},
                                   {"app.kubernetes.io/name", "bench"},
                                   {"tier", "@TIER@"}}},
           {"managedFields", std::move(managed)},
           {"name", "@NAME@"},
           {"namespace", "@NAMESPACE@"},
           {"resourceVersion", "@VERSION@"},
           {"uid", "@UID@"}}},
      {"spec", spec},
      {"status", status}};
}

// The text of an object, cut at what differs: text, "NAME", text, "UID" and so on.
std::vector<std::string> CutSample() {
  const std::string text = json::Write(Sample());
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find('@', begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

void AppendObject(std::string& text, int kind, int number, int namespaces, int gibibytes,
                  int version) {
  static const std::vector<std::string> parts = CutSample();
  const std::string ns = PaperNamespace(number % namespaces);
  char uid[37];
  std::snprintf(uid, sizeof uid, "%08x-5f5c-4f0f-8d63-%012d", kind, number);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i % 2 == 0) {
      text += parts[i];
    } else if (parts[i] == "NAME") {
      text += Numbered("object-%06d", number);
    } else if (parts[i] == "NAMESPACE") {
      text += ns;
    } else if (parts[i] == "UID") {
      text += uid;
    } else if (parts[i] == "KIND") {
      text += Numbered("K%03d", kind);
    } else if (parts[i] == "TIER") {
      text += kClassNames[static_cast<std::size_t>(number % kClasses)];
    } else if (parts[i] == "SIZE") {
      text += std::to_string(gibibytes) + "Gi";
    } else {
      text += std::to_string(version);
    }
  }
}

std::string ClassAsJson(int number) {
  const std::string name = kClassNames[static_cast<std::size_t>(number)];
  return R"({"apiVersion":"bench.example/v1","kind":"Class","metadata":{"name":")" + name +
         R"(","uid":"uid-)" + name + R"(","resourceVersion":"7"},"spec":{"iops":)" +
         std::to_string(kIops) + "}}";
}

std::string Resource(const std::string& resource, const std::string& group, const std::string& kind,
                     const char* version, const char* scope) {
  return R"({"resource":")" + resource + R"(","responseKind":{"group":")" + group +
         R"(","version":")" + version + R"(","kind":")" + kind + R"("},"scope":")" + scope +
         R"(","verbs":["list","watch","patch"]})";
}

std::string Group(const std::string& name, const char* version, const std::string& resources) {
  return R"({"metadata":{"name":")" + name + R"("},"versions":[{"version":")" + version +
         R"(","freshness":"Current","resources":[)" + resources + "]}]}";
}

}  // namespace

std::string PaperNamespace(int number) { return Numbered("t%05d", number); }

std::string PaperKind(int kind) { return Numbered("k%03d", kind); }

std::string PaperDefinitionName(int kind) { return PaperKind(kind) + "." + kPaperGroup; }

std::string PaperName(int kind, const std::string& what) {
  return PaperDefinitionName(kind) + "/" + what;
}

json::Value PaperDefinition(int kind) {
  const auto resource = [](const std::string& name) {
    return json::Object{{"group", kPaperGroup}, {"resource", name}};
  };
  json::Array usage;
  usage.push_back(
      json::Object{{"name", PaperName(kind, "storage")}, {"path", ".spec.storage.size"}});
  usage.push_back(json::Object{{"name", PaperName(kind, "cpu")},
                               {"path", ".spec.pools[*].cpu"},
                               {"times", ".spec.pools[*].replicas"}});
  usage.push_back(json::Object{
      {"name", PaperName(kind, "backup")}, {"path", ".spec.backup.size"}, {"default", 0}});
  usage.push_back(json::Object{{"name", PaperName(kind, "iops")},
                               {"class", json::Object{{"path", ".spec.tier"},
                                                      {"resource", resource(kPaperClasses)},
                                                      {"field", ".spec.iops"}}},
                               {"times", ".spec.replicas"}});
  return json::Object{
      {"resource", resource(PaperKind(kind))},
      {"usage", std::move(usage)},
      {"countsWhile", json::Object{{"path", ".status.phase"}, {"notIn", json::Array{"Released"}}}},
      {"scopes", json::Array{json::Object{{"name", PaperName(kind, "tier")},
                                          {"path", ".metadata.labels['tier']"}}}}};
}

std::string PaperStorage(const PaperKinds& kinds, int changed) {
  int gibibytes = changed * kChangedSize;
  for (int i = changed; i < kinds.objects; ++i) gibibytes += 1 + i % kSizes;
  return quantity::Quantity::Parse(std::to_string(gibibytes) + "Gi").value().ToString();
}

std::string PaperIops(const PaperKinds& kinds) {
  return quantity::Quantity::FromInt(std::int64_t{kinds.objects} * kReplicas * kIops).ToString();
}

std::string DiscoveryOf(const PaperKinds& kinds) {
  std::string custom = Resource(kPaperClasses, kPaperGroup, "Class", "v1", "Cluster");
  for (int kind = 0; kind < kinds.kinds; ++kind) {
    custom +=
        "," + Resource(PaperKind(kind), kPaperGroup, Numbered("K%03d", kind), "v1", "Namespaced");
  }
  const std::string ours = "quota-controller-manager.io";
  const std::string quotas =
      Resource("clusterquotas", ours, "ClusterQuota", "v1alpha1", "Cluster") + "," +
      Resource("usagedefinitions", ours, "UsageDefinition", "v1alpha1", "Cluster");
  return R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},)"
         R"("items":[)" +
         Group(kPaperGroup, "v1", custom) + "," + Group(ours, "v1alpha1", quotas) + "]}";
}

std::string ObjectsAsJson(const std::string& resource, int from, int end, int count,
                          int namespaces) {
  std::string list = R"({"apiVersion":"bench.example/v1","items":[)";
  for (int i = from; i < end; ++i) {
    if (i > from) list += ',';
    if (resource == kPaperClasses) {
      list += ClassAsJson(i);
    } else {
      AppendObject(list, std::stoi(resource.substr(1)), i, namespaces, 1 + i % kSizes, 7);
    }
  }
  return list.append(R"(],"kind":"List","metadata":{"continue":")")
      .append(end < count ? std::to_string(end) : "")
      .append(R"(","resourceVersion":"1000"}})");
}

std::string PaperObjectEvent(int kind, int number, int namespaces, int version) {
  std::string event = R"({"type":"MODIFIED","object":)";
  AppendObject(event, kind, number, namespaces, kChangedSize, version);
  return event += "}\n";
}

}  // namespace bench
