// Machines: counted, and measured by the capabilities of their class until they reach a terminal
// state (IEP-7). Only Terminated is terminal: a machine that is shut down, powered off, terminating
// or being deleted still holds its resources. A terminated machine still counts as one object.

#include <string>
#include <string_view>

#include "pkg/quota/ironcore/capabilities.h"

namespace quota::ironcore::machines {
namespace {

constexpr const char* kScope = "MachineClass";
constexpr const char* kCount = "count/machines.compute.ironcore.dev";
constexpr std::string_view kReference = "machineClassRef";
constexpr std::string_view kTerminal = "Terminated";

constexpr const char* kCanNeedMore =
    "object.?spec.?machineClassRef != oldObject.?spec.?machineClassRef || ("
    "object.?status.?state.orValue('') == 'Terminated' && "
    "oldObject.?status.?state.orValue('') != 'Terminated')";

bool Owns(std::string_view name) {
  return name == kCount || name == "requests.cpu" || name == "requests.memory";
}

bool IsTerminal(const json::Value& machine) {
  return machine.StringAt({"status", "state"}) == kTerminal;
}

ObjectFacts FactsIn(const json::Value& machine, bool terminal) {
  ObjectFacts facts;
  facts.now.usage.Set(kCount, Quantity::FromInt(1));
  const std::string class_name(ClassNameOf(machine, kReference));
  if (class_name.empty()) {
    facts.flaw = "spec.machineClassRef.name: must name a machine class";
    return facts;
  }
  facts.now.attributes.emplace_back(kScope, class_name);
  if (!terminal) facts.now.classes.push_back({class_name, 1});
  return facts;
}

base::Result<ObjectFacts> FactsOf(const json::Value& machine, const ReadOptions& /*options*/) {
  return FactsIn(machine, IsTerminal(machine));
}

// ironcore's own API server stores the status that a client sends with a machine. So everybody who
// may create machines could claim that they are terminated. Only the stored state counts.
base::Result<ObjectFacts> FactsToAdmit(const json::Value& machine, const json::Value* stored,
                                       const ReadOptions& /*options*/) {
  const bool was_terminal = stored != nullptr && IsTerminal(*stored);
  ObjectFacts facts = FactsIn(machine, was_terminal);
  if (IsTerminal(machine) && !was_terminal) {
    facts.flaw = "status.state: Terminated is written to the subresource status only";
  }
  return facts;
}

}  // namespace

Evaluator MakeEvaluator() {
  return {
      .resource = {.group = "compute.ironcore.dev", .resource = "machines"},
      .version = "v1alpha1",
      .owns = Owns,
      .fields = {"spec.machineClassRef.name", "status.state"},
      .scopes = {kScope},
      .facts_of = FactsOf,
      .guard = {.updates = true,
                .update_condition = kCanNeedMore,
                .subresources = {},
                .facts_of = FactsToAdmit,
                .fields = {},
                .constraints = nullptr},
      .classes = ClassesWith({.group = "compute.ironcore.dev", .resource = "machineclasses"},
                             "machine class",
                             {{"cpu", "requests.cpu", quantity::Format::kDecimalSI},
                              {"memory", "requests.memory", quantity::Format::kBinarySI}}),
  };
}

}  // namespace quota::ironcore::machines
