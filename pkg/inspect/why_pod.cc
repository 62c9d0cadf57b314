#include "pkg/inspect/why_pod.h"

#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/why.h"

namespace inspect {
namespace {

std::string_view PhaseOf(const json::Value& pod) { return pod.StringAt({"status", "phase"}); }

// Returns why it is not scheduled; "" if it is.
std::string WaitsFor(const json::Value& pod) {
  for (const json::Value& condition : pod.ArrayAt({"status", "conditions"})) {
    const bool waits =
        condition.StringAt({"type"}) == "PodScheduled" && condition.StringAt({"status"}) == "False";
    if (waits) return std::string(condition.StringAt({"message"}));
  }
  return "";
}

}  // namespace

std::string WhyPodText(const json::Value& pod) {
  std::string text = NameOf(pod).ToString() + " is stored, so no quota refuses it: it is " +
                     std::string(PhaseOf(pod));
  const std::string waits = WaitsFor(pod);
  if (!waits.empty()) text += ": " + waits;
  return Line(text);
}

json::Value WhyPodValue(const json::Value& pod) {
  json::Value value = WhyValue({.of = NameOf(pod), .wants = 1, .has = 1});
  value.Make({"phase"}) = PhaseOf(pod);
  const std::string waits = WaitsFor(pod);
  if (!waits.empty()) value.Make({"message"}) = waits;
  return value;
}

}  // namespace inspect
