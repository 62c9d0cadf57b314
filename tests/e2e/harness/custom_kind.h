#pragma once

// A custom kind of a group of its own, so that scenarios do not meet.

#include <string>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

struct CustomKind {
  explicit CustomKind(std::string name)
      : plural(std::move(name)), group(FreshName("g") + ".test") {}

  [[nodiscard]] std::string Crd() const { return plural + "." + group; }
  [[nodiscard]] std::string CountName() const { return "count/" + Crd(); }
  [[nodiscard]] std::string Path(const std::string& ns, const std::string& name = "") const;
  [[nodiscard]] json::Value Object(const std::string& name) const;
  [[nodiscard]] json::Value Definition() const;

  std::string plural;
  std::string group;
  std::string kind = "Thing";  // no other of the group may be called so
};

// In the scenario's namespace. Once a definition is accepted its kind is served a little later.
void CreateCustom(Scenario& s, const CustomKind& kind, const std::string& name);

// The definition exists and the kind has an object: from here on it cannot be listed, because its
// conversion webhook does not listen. Real servers only.
void BreakConversion(Scenario& s, const CustomKind& kind);
void MendConversion(Scenario& s, const CustomKind& kind);

}  // namespace e2e
