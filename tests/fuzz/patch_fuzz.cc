// A line that is not read, "====", an object, "====", a patch: the sandbox refuses it or returns an
// object. A repeated patch has no further effect, and a merge patch has the effect of the same
// change as a JSON patch.

#include "cmd/sandbox-apiserver/patch.h"

#include "tests/fuzz/target.h"

namespace {

using json::Value;

bool HasNull(const Value& value) {
  const json::Object* const object = value.AsObject();
  if (object == nullptr) return value.IsNull();
  for (const auto& [name, member] : *object) {
    if (HasNull(member)) return true;
  }
  return false;
}

void CheckMerge(const Value& target, const Value& patch) {
  const Value once = sandbox::ApplyMergePatch(target, patch);
  fuzz::Require(sandbox::ApplyMergePatch(once, patch) == once, "twice is once");
  if (patch.IsObject() && !HasNull(target)) {
    fuzz::Require(!HasNull(once), "null removes, it is never stored");
  }
  fuzz::Require(sandbox::ApplyMergePatch(target, json::Object()) ==
                    (target.IsObject() ? target : Value(json::Object())),
                "an empty patch changes nothing");
}

std::string Escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '~' || c == '/') {
      text += c == '~' ? "~0" : "~1";
    } else {
      text += c;
    }
  }
  return text;
}

// The result of a merge patch on nothing.
Value WithoutNulls(const Value& change) {
  const json::Object* const members = change.AsObject();
  if (members == nullptr) return change;
  json::Object kept;
  for (const auto& [name, member] : *members) {
    if (!member.IsNull()) kept.Set(name, WithoutNulls(member));
  }
  return kept;
}

// The operations that change `target`, which is at `at`, like the merge patch.
void AddOperations(const json::Object& target, const json::Object& patch, const std::string& at,
                   json::Array& operations) {
  for (const auto& [name, change] : patch) {
    const std::string path = at + "/" + Escaped(name);
    const Value* const before = target.Find(name);
    if (before != nullptr && before->IsObject() && change.IsObject()) {
      AddOperations(*before->AsObject(), *change.AsObject(), path, operations);
    } else if (!change.IsNull()) {
      operations.push_back(
          json::Object{{"op", "add"}, {"path", path}, {"value", WithoutNulls(change)}});
    } else if (before != nullptr) {
      operations.push_back(json::Object{{"op", "remove"}, {"path", path}});
    }
  }
}

void CheckMergeAsOperations(const json::Object& target, const json::Object& patch) {
  json::Array operations;
  AddOperations(target, patch, "", operations);
  const auto patched = sandbox::ApplyJsonPatch(target, operations);
  fuzz::Require(patched.has_value(), "what a merge patch can do, a JSON patch can");
  fuzz::Require(*patched == sandbox::ApplyMergePatch(target, patch), "and does the same");
}

// True if all operations are `test`: such a patch changes nothing.
bool OnlyTests(const json::Array& operations) {
  for (const Value& operation : operations) {
    if (operation.StringAt({"op"}) != "test") return false;
  }
  return true;
}

void CheckJson(const Value& target, const Value& patch) {
  const auto patched = sandbox::ApplyJsonPatch(target, patch);
  if (!patched) {
    const int code = patched.error().code;
    fuzz::Require(code == 400 || code == 422 || code == 413, "refused as a client's mistake");
    return;
  }
  const json::Array* const operations = patch.AsArray();
  fuzz::Require(operations != nullptr, "a patch is a list");
  if (OnlyTests(*operations)) fuzz::Require(*patched == target, "who only asks changes nothing");
}

void CheckStrategic(const Value& target, const Value& patch) {
  const auto once = sandbox::ApplyStrategicMergePatch(target, patch);
  if (!once) {
    fuzz::Require(once.error().code == 400, "refused as a malformed patch");
    return;
  }
  const auto nothing = sandbox::ApplyStrategicMergePatch(*once, json::Object());
  fuzz::Require(nothing && *nothing == *once, "an empty patch changes nothing");
}

void CheckApply(const Value& target, const Value& applied) {
  for (const bool custom : {false, true}) {
    const auto once = sandbox::ApplyServerSide(target, applied, custom);
    if (!once) {
      fuzz::Require(once.error().code >= 400 && once.error().code < 500, "a client's mistake");
      continue;
    }
    const auto twice = sandbox::ApplyServerSide(*once, applied, custom);
    fuzz::Require(twice.has_value(), "what was applied can be applied again");
    fuzz::RequireSame(json::Write(*twice), json::Write(*once), "and that changes nothing");
  }
}

FUZZ_TARGET(patch) {
  const auto parts = fuzz::Parts(input, 3);
  const auto target = json::Parse(parts[1]);
  const auto patch = json::Parse(parts[2]);
  if (!target || !patch) return;
  CheckMerge(*target, *patch);
  CheckJson(*target, *patch);
  if (!target->IsObject()) return;
  CheckStrategic(*target, *patch);
  if (!patch->IsObject()) return;
  CheckMergeAsOperations(*target->AsObject(), *patch->AsObject());
  CheckApply(*target, *patch);
}

}  // namespace
