#include "pkg/inspect/apply.h"

#include <string>

#include "pkg/inspect/containment.h"

namespace inspect {
namespace {

using json::Value;

// Returns the manifest that was applied last; null if it is not known.
Value LastApplied(const Value& stored) {
  const std::string_view text = stored.StringAt(
      {"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"});
  auto parsed = json::Parse(text);
  return parsed ? std::move(*parsed) : Value();
}

}  // namespace

bool KeepsApplied(const Value& manifest, const Value& stored,
                  std::initializer_list<std::string_view> path) {
  const Value last = LastApplied(stored);
  const Value* before = last.At(path);
  const Value* now = manifest.At(path);
  return before == nullptr || IsContained(*before, now == nullptr ? Value() : *now);
}

const Value* AfterApply(const Value& manifest, const Value& stored,
                        std::initializer_list<std::string_view> path) {
  if (const Value* set = manifest.At(path)) return set;
  return LastApplied(stored).At(path) == nullptr ? stored.At(path) : nullptr;
}

}  // namespace inspect
