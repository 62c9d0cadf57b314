#pragma once

// The result of a comparison: the number of comparisons, the differences, and how often each known
// departure occurred. One thread.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"
#include "pkg/quota/rules.h"
#include "tests/differential/departures.h"

namespace differential {

class Comparison {
 public:
  // The first few differences are printed. Later ones are only counted.
  void Differ(const std::string& what);
  // Compares ours with upstream's amount ({"nanos", "format", "text"}).
  void CompareAmount(const std::string& what, const quantity::Quantity& ours,
                     const json::Value& theirs);

  [[nodiscard]] std::size_t differences() const { return differences_; }
  [[nodiscard]] const std::string& first_differences() const { return first_; }
  Departures departures;

 private:
  std::size_t differences_ = 0;
  std::string first_;
};

// The rules of the version of Kubernetes whose code upstream is.
const quota::Rules& UpstreamRules();

// Asks upstream `count` questions from `make` in batches, and passes each answer to
// `compare(question, answer)`.
void AskAll(std::size_t count, const std::function<std::string()>& make,
            const std::function<void(const std::string&, const json::Value&)>& compare);

}  // namespace differential
