// JSON patch (RFC 6902, without move and copy) with JSON pointers (RFC 6901), and JSON merge patch
// (RFC 7386).

#include <charconv>
#include <utility>
#include <vector>

#include "cmd/sandbox-apiserver/patch.h"
#include "pkg/json/index.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

constexpr std::size_t kMaxOperations = 10000;

using Pointer = std::vector<std::string>;

// The error for a patch that does not apply.
api::Status Unprocessable() {
  api::Status status;
  status.code = 422;
  status.reason = "Invalid";
  status.message = "the server rejected our request due to an error in our request";
  return status;
}

Outcome<Pointer> ParsePointer(std::string_view text) {
  Pointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') return api::BadRequest("JSON pointer must begin with '/'");
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view two = text.substr(at, 2);
    if (text[at] == '/') {
      pointer.emplace_back();
    } else if (two == "~0" || two == "~1") {
      pointer.back() += two == "~0" ? '~' : '/';
      ++at;
    } else {
      pointer.back() += text[at];
    }
  }
  return pointer;
}

// An index below `size`; nullopt for anything else.
std::optional<std::size_t> ParseIndex(std::string_view text, std::size_t size) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool clean = error == std::errc() && end == text.data() + text.size();
  if (!clean || (text.size() > 1 && text.front() == '0') || index >= size) return std::nullopt;
  return index;
}

Value* Step(Value& value, std::string_view step) {
  if (Object* object = value.AsObject()) return object->Find(step);
  if (Array* array = value.AsArray()) {
    const auto index = ParseIndex(step, array->size());
    return index ? &(*array)[*index] : nullptr;
  }
  return nullptr;
}

Value* Walk(Value& value, const Pointer& pointer, std::size_t steps) {
  Value* at = &value;
  for (std::size_t i = 0; i < steps && at != nullptr; ++i) at = Step(*at, pointer[i]);
  return at;
}

class Patcher {
 public:
  explicit Patcher(Value document) : document_(std::move(document)) {}

  Outcome<void> Apply(const Value& operation) {
    const std::string_view op = operation.StringAt({"op"});
    const std::string_view path_text = operation.StringAt({"path"});
    if (operation.At({"path"}) == nullptr)
      return api::BadRequest("JSON patch operation without path");
    auto path = ParsePointer(path_text);
    if (!path) return path.error();
    if (op == "remove") return Remove(*path);
    const Value* const value = operation.At({"value"});
    if (op != "add" && op != "replace" && op != "test") return Unprocessable();
    const Value null;
    if (op == "add") return Add(*path, value != nullptr ? *value : null);
    Value* const at = Walk(document_, *path, path->size());
    if (op == "test") return Test(at, value != nullptr ? *value : null);
    if (at == nullptr) return Unprocessable();
    *at = value != nullptr ? *value : null;
    return {};
  }

  Value Take() { return std::move(document_); }

 private:
  static Outcome<void> Test(const Value* at, const Value& value) {
    const Value null;
    if ((at != nullptr ? *at : null) == value) return {};
    return Unprocessable();
  }

  Outcome<void> Add(const Pointer& path, Value value) {
    if (path.empty()) {
      document_ = std::move(value);
      return {};
    }
    Value* const parent = Walk(document_, path, path.size() - 1);
    if (parent == nullptr) return Unprocessable();
    if (Object* object = parent->AsObject()) {
      object->Set(path.back(), std::move(value));
      return {};
    }
    Array* const array = parent->AsArray();
    if (array == nullptr) return Unprocessable();
    const auto index =
        path.back() == "-" ? array->size() : ParseIndex(path.back(), array->size() + 1);
    if (!index) return Unprocessable();
    array->insert(array->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  Outcome<void> Remove(const Pointer& path) {
    if (path.empty() || Walk(document_, path, path.size()) == nullptr) return Unprocessable();
    Value* const parent = Walk(document_, path, path.size() - 1);
    if (Object* object = parent->AsObject()) {
      object->Erase(path.back());
    } else {
      Array* const array = parent->AsArray();
      array->erase(array->begin() +
                   static_cast<std::ptrdiff_t>(*ParseIndex(path.back(), array->size())));
    }
    return {};
  }

  Value document_;
};

}  // namespace

std::optional<PatchType> PatchTypeOf(std::string_view media_type) {
  if (media_type == "application/json-patch+json") return PatchType::kJson;
  if (media_type == "application/merge-patch+json") return PatchType::kMerge;
  if (media_type == "application/strategic-merge-patch+json") return PatchType::kStrategic;
  if (media_type == "application/apply-patch+yaml") return PatchType::kApply;
  return std::nullopt;
}

Outcome<Value> ApplyJsonPatch(const Value& target, const Value& patch) {
  const Array* const operations = patch.AsArray();
  if (operations == nullptr) return api::BadRequest("a JSON patch must be an array of operations");
  if (operations->size() > kMaxOperations) {
    return api::RequestEntityTooLarge("a JSON patch may have 10000 operations");
  }
  Patcher patcher(target);
  for (const Value& operation : *operations) {
    if (auto applied = patcher.Apply(operation); !applied) return applied.error();
  }
  return patcher.Take();
}

Value ApplyMergePatch(const Value& target, const Value& patch) {
  const Object* const changes = patch.AsObject();
  if (changes == nullptr) return patch;
  auto left = json::IndexOf(*changes);
  std::vector<json::Member> members;
  members.reserve(changes->size());
  if (const Object* const before = target.AsObject()) {
    for (const auto& [name, value] : *before) {
      const auto change = left.find(name);
      if (change == left.end()) {
        members.emplace_back(name, value);
        continue;
      }
      if (!change->second->IsNull()) {
        members.emplace_back(name, ApplyMergePatch(value, *change->second));
      }
      left.erase(change);
    }
  }
  for (const auto& [name, change] : *changes) {
    if (change.IsNull() || !left.contains(name)) continue;
    members.emplace_back(name, ApplyMergePatch(Value(), change));
  }
  return Object::FromMembers(std::move(members));
}

}  // namespace sandbox
