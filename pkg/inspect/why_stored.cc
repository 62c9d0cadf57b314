#include "pkg/inspect/why_stored.h"

#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/why.h"

namespace inspect {
namespace {

using json::Value;

// Pods have a phase, and objects of ironcore a state.
std::string PhaseOf(const Value& object) {
  const std::string_view phase = object.StringAt({"status", "phase"});
  return std::string(phase.empty() ? object.StringAt({"status", "state"}) : phase);
}

// Returns the condition that tells why it is not scheduled; nullptr if it is.
const Value* Unscheduled(const Value& object) {
  for (const Value& condition : object.ArrayAt({"status", "conditions"})) {
    const std::string_view type = condition.StringAt({"type"});
    const bool scheduled = type == "PodScheduled" || type == "Scheduled";
    if (scheduled && condition.StringAt({"status"}) == "False") return &condition;
  }
  return nullptr;
}

std::string WaitsFor(const Value& object) {
  const Value* condition = Unscheduled(object);
  return condition == nullptr ? "" : std::string(condition->StringAt({"message"}));
}

}  // namespace

bool IsHeldByQuota(const Value& object) {
  const Value* condition = Unscheduled(object);
  return condition != nullptr && condition->StringAt({"reason"}) == "QuotaExceeded";
}

std::string WhyStoredText(const Value& object) {
  const bool held = IsHeldByQuota(object);
  std::string text =
      NameOf(object).ToString() +
      (held ? " is stored, but a quota refuses to place it" : " is stored, so no quota refuses it");
  const std::string phase = PhaseOf(object);
  if (!phase.empty()) text += ": it is " + phase;
  const std::string waits = WaitsFor(object);
  if (!waits.empty()) text += ": " + waits;
  return Line(text);
}

Value WhyStoredValue(const Value& object) {
  Value value = WhyValue({.of = NameOf(object), .wants = 1, .has = 1});
  value.Make({"refused"}) = IsHeldByQuota(object);
  value.Make({"phase"}) = PhaseOf(object);
  const std::string waits = WaitsFor(object);
  if (!waits.empty()) value.Make({"message"}) = waits;
  return value;
}

}  // namespace inspect
