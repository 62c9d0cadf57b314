#include "tests/differential/comparison.h"

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "pkg/api/kubernetes_version.h"
#include "tests/differential/settings.h"
#include "tests/differential/upstream.h"

namespace differential {
namespace {

std::string_view FormatName(quantity::Format format) {
  switch (format) {
    case quantity::Format::kDecimalSI:
      return "DecimalSI";
    case quantity::Format::kBinarySI:
      return "BinarySI";
    case quantity::Format::kDecimalExponent:
      return "DecimalExponent";
  }
  return "";
}

std::string InDecimal(quantity::Int128 number) {
  std::string text;
  for (quantity::Int128 rest = number; rest != 0; rest /= 10) {
    const int digit = static_cast<int>(rest % 10);
    text.insert(text.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
  return number == 0 ? "0" : (number < 0 ? "-" : "") + text;
}

}  // namespace

void Comparison::Differ(const std::string& what) {
  constexpr std::size_t kShown = 5;
  if (++differences_ <= kShown) first_.append(what).append("\n");
}

void Comparison::CompareAmount(const std::string& what, const quantity::Quantity& ours,
                               const json::Value& theirs) {
  const std::string text = ours.ToString();
  const std::string number = InDecimal(ours.nanos());
  const bool same_value = number == theirs.StringAt({"nanos"}) &&
                          FormatName(ours.format()) == theirs.StringAt({"format"});
  if (same_value && text == theirs.StringAt({"text"})) return;
  if (IsSaturation(ours, theirs.StringAt({"nanos"}))) return departures.Add(Departure::kSaturated);
  if (same_value && HasOtherText(ours)) return departures.Add(Departure::kOtherText);
  Differ(what + ": ours " + text + " (" + number + " " + std::string(FormatName(ours.format())) +
         "), upstream " + json::Write(theirs));
}

const quota::Rules& UpstreamRules() {
  static const quota::Rules rules = [] {
    Upstream upstream(TheSettings().upstream);
    const json::Value answer = upstream.Ask({R"({"version":true})"}).front();
    const auto version = api::ParseKubernetesVersion(answer);
    if (!version) throw std::runtime_error("upstream's version: " + json::Write(answer));
    std::cout << "compared with Kubernetes " << version->ToString() << std::endl;
    return quota::RulesOf(*version);
  }();
  return rules;
}

void AskAll(std::size_t count, const std::function<std::string()>& make,
            const std::function<void(const std::string&, const json::Value&)>& compare) {
  constexpr std::size_t kBatch = 2000;
  Upstream upstream(TheSettings().upstream);
  while (count > 0) {
    std::vector<std::string> questions(std::min(count, kBatch));
    std::ranges::generate(questions, make);
    const std::vector<json::Value> answers = upstream.Ask(questions);
    for (std::size_t i = 0; i < questions.size(); ++i) compare(questions[i], answers[i]);
    count -= questions.size();
  }
}

}  // namespace differential
