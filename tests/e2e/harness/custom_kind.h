#pragma once

// A custom kind in its own group, so that scenarios do not interfere.

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
  std::string kind = "Thing";  // unique in its group
};

// Creates an object in the scenario's namespace. An accepted definition is served a little later.
void CreateCustom(Scenario& s, const CustomKind& kind, const std::string& name);

// REQUIRES: the definition exists and the kind has an object. From now on the kind cannot be
// listed, because nobody listens at its conversion webhook. Real servers only.
void BreakConversion(Scenario& s, const CustomKind& kind);
void MendConversion(Scenario& s, const CustomKind& kind);

}  // namespace e2e
