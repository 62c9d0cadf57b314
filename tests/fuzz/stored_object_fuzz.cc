// An object of a built-in kind as a client sends it to the sandbox, "====", the next state that it
// sends: defaults are set once, an update with the stored object is valid, and nothing crashes.

#include "cmd/sandbox-apiserver/object_rules.h"
#include "pkg/api/object_meta.h"
#include "tests/fuzz/target.h"

namespace {

using sandbox::ResourceType;

const ResourceType* TypeOf(const json::Value& object) {
  static const std::vector<ResourceType> types = sandbox::BuiltInTypes();
  for (const ResourceType& type : types) {
    const bool same =
        type.kind == api::Kind(object) && type.ApiVersion() == api::ApiVersion(object);
    if (same && !type.create_only) return &type;
  }
  return nullptr;
}

// Like Store for a create, without the fields that it generates.
bool Accept(const ResourceType& type, json::Value& object) {
  const auto done = sandbox::ApplyDefaults(type, object);
  if (!done) {
    fuzz::Require(done.error().code == 400, "what cannot be decoded is a bad request");
    return false;
  }
  json::Value again = object;
  fuzz::Require(sandbox::ApplyDefaults(type, again).has_value(), "defaults can be set again");
  fuzz::RequireSame(json::Write(again), json::Write(object), "and change nothing then");
  sandbox::PrepareForCreate(type, object);
  return sandbox::ValidateMeta(type, object).empty() &&
         sandbox::ValidateObject(type, object).empty();
}

void CheckUpdate(const ResourceType& type, json::Value next, const json::Value& old) {
  if (!sandbox::ApplyDefaults(type, next)) return;
  for (const char* subresource : {"", "status"}) {
    json::Value updated = next;
    sandbox::PrepareForUpdate(type, updated, old, subresource);
    (void)sandbox::ValidateMetaUpdate(updated, old);
    (void)sandbox::ValidateObject(type, updated);
    (void)sandbox::SpecChanged(type, updated, old);
  }
}

FUZZ_TARGET(stored_object) {
  const auto parts = fuzz::Parts(input, 2);
  auto object = json::Parse(parts[0]);
  if (!object || !object->IsObject()) return;
  const ResourceType* const type = TypeOf(*object);
  if (type == nullptr || !Accept(*type, *object)) return;
  fuzz::Require(!sandbox::SpecChanged(*type, *object, *object), "nothing changed");
  json::Value same = *object;
  sandbox::PrepareForUpdate(*type, same, *object, "");
  fuzz::Require(sandbox::ValidateObject(*type, same).empty(), "what is stored may be stored again");
  const auto next = json::Parse(parts[1]);
  if (next && next->IsObject()) CheckUpdate(*type, *next, *object);
}

}  // namespace
