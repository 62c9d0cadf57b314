#include "cmd/sandbox-apiserver/managed_fields.h"

#include <string>
#include <vector>

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

std::string Step(const std::string& name) {
  std::string step("f:");
  return step.append(name);
}

// Returns all fields below a value, as FieldsV1.
Object FieldsOf(const Value& value) {
  Object fields;
  if (const Object* const object = value.AsObject()) {
    for (const auto& [name, below] : *object) fields.Set(Step(name), FieldsOf(below));
  }
  return fields;
}

// Returns the members of `after` that differ from those of `before`.
Object Changed(const Object& before, const Object& after) {
  Object fields;
  for (const auto& [name, now] : after) {
    const Value* const was = before.Find(name);
    if (was != nullptr && *was == now) continue;
    const bool both = was != nullptr && was->IsObject() && now.IsObject();
    Object below = both ? Changed(*was->AsObject(), *now.AsObject()) : FieldsOf(now);
    if (!both || !below.empty()) fields.Set(Step(name), std::move(below));
  }
  return fields;
}

const Object& ObjectOrEmpty(const Value* value) {
  static const Object empty;
  const Object* const object = value != nullptr ? value->AsObject() : nullptr;
  return object != nullptr ? *object : empty;
}

// Removes the fields from `fields` that are in `taken` or no longer in `value`. A client may have
// written `fields`, so they may be malformed.
void TakeAway(Object& fields, const Object& taken, const Object& value) {
  std::vector<std::string> gone;
  for (auto& [step, below] : fields) {
    const Value* const member = step.starts_with("f:") ? value.Find(step.substr(2)) : nullptr;
    const Value* const lost = taken.Find(step);
    Object* const inner = below.AsObject();
    const bool leaf = inner == nullptr || inner->empty();
    if (!leaf) TakeAway(*inner, ObjectOrEmpty(lost), ObjectOrEmpty(member));
    if (member == nullptr || (leaf && lost != nullptr) || (!leaf && inner->empty())) {
      gone.push_back(step);
    }
  }
  for (const std::string& step : gone) fields.Erase(step);
}

void Include(const Object& more, Object& fields) {
  for (const auto& [step, below] : more) {
    Value& member = fields[step];
    if (!member.IsObject()) member = Object();
    Include(*below.AsObject(), *member.AsObject());
  }
}

bool IsOfStatus(const Value& entry) {
  const Value* const fields = entry.At({"fieldsV1", "f:status"});
  return entry.StringAt({"operation"}) == "Update" && entry.StringAt({"subresource"}) == "status" &&
         fields != nullptr && fields->IsObject();
}

Object& FieldsOfEntry(Value& entry) { return *entry.Make({"fieldsV1", "f:status"}).AsObject(); }

Value NewEntry(const StatusWriter& writer) {
  return Object{{"manager", writer.manager},        {"operation", "Update"},
                {"apiVersion", writer.api_version}, {"time", writer.timestamp},
                {"fieldsType", "FieldsV1"},         {"fieldsV1", Object{{"f:status", Object()}}},
                {"subresource", "status"}};
}

}  // namespace

void RecordStatusUpdate(const Value& old, Value& object, const StatusWriter& writer) {
  const Object status = ObjectOrEmpty(object.At({"status"}));
  const Object changed = Changed(ObjectOrEmpty(old.At({"status"})), status);
  if (changed.empty()) return;
  const Value& record = object.Make({"metadata", "managedFields"});
  Array entries;
  Value mine = NewEntry(writer);
  for (const Value& entry : record.IsArray() ? *record.AsArray() : Array()) {
    Value left = entry;
    if (IsOfStatus(entry)) {
      Object& fields = FieldsOfEntry(left);
      TakeAway(fields, changed, status);
      if (entry.StringAt({"manager"}) == writer.manager) Include(fields, FieldsOfEntry(mine));
      if (fields.empty() || entry.StringAt({"manager"}) == writer.manager) continue;
    }
    entries.push_back(std::move(left));
  }
  Include(changed, FieldsOfEntry(mine));
  entries.push_back(std::move(mine));
  object.Make({"metadata", "managedFields"}) = std::move(entries);
}

}  // namespace sandbox
