// A CustomResourceDefinition, "====", an object of it: the sandbox refuses the definition, or
// creates types from it. Repeated pruning and defaulting have no further effect.

#include "cmd/sandbox-apiserver/crd.h"
#include "tests/fuzz/target.h"

namespace {

void CheckObject(const json::Value& schema, json::Value object) {
  (void)sandbox::Prune(schema, object);
  json::Value again = object;
  fuzz::Require(sandbox::Prune(schema, again).empty() && again == object, "pruned once");
  sandbox::ApplySchemaDefaults(schema, object);
  again = object;
  sandbox::ApplySchemaDefaults(schema, again);
  fuzz::RequireSame(json::Write(again), json::Write(object), "defaulted once");
  (void)sandbox::ValidateBySchema(schema, object);
}

FUZZ_TARGET(schema) {
  const auto parts = fuzz::Parts(input, 2);
  auto crd = json::Parse(parts[0]);
  const auto object = json::Parse(parts[1]);
  if (!crd || !crd->IsObject()) return;
  sandbox::DefaultCrd(*crd);
  if (!sandbox::ValidateCrd(*crd).empty()) return;
  sandbox::SetEstablished(*crd, "2026-01-02T03:04:05Z");
  for (const sandbox::ResourceType& type : sandbox::TypesOfCrd(*crd)) {
    fuzz::Require(type.custom && !type.kind.empty() && !type.resource.empty(), "with its names");
    if (type.schema != nullptr && object && object->IsObject()) CheckObject(*type.schema, *object);
  }
}

}  // namespace
