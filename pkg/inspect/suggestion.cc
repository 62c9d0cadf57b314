#include "pkg/inspect/suggestion.h"

#include <charconv>

#include "pkg/config/yaml.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/json/value.h"

namespace inspect {
namespace {

using quantity::Int128;
using quota::Quantity;

constexpr Int128 kMebi = Int128{1} << 20;

// Both amounts are in nanos and at least 0.
Int128 RoundedUp(Int128 value, Int128 step) { return (value + step - 1) / step * step; }

std::string Digits(Int128 number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number > 0);
  return digits;
}

Quantity Written(const std::string& text) {
  const auto amount = Quantity::Parse(text);
  return amount ? *amount : Quantity();
}

bool IsBytes(std::string_view name) {
  return name.ends_with("memory") || name.ends_with("storage");
}

Quantity Bytes(Int128 nanos) {
  const Int128 bytes = RoundedUp(nanos, quantity::kNanosPerOne) / quantity::kNanosPerOne;
  const Int128 step = bytes > 4096 * kMebi ? 1024 * kMebi : 64 * kMebi;
  return Written(Digits(RoundedUp(bytes, step) / kMebi) + "Mi");
}

Quantity Cores(Int128 nanos) {
  constexpr Int128 kTenth = quantity::kNanosPerOne / 10;
  const Int128 step = nanos > 10 * quantity::kNanosPerOne ? quantity::kNanosPerOne : kTenth;
  return Written(Digits(RoundedUp(nanos, step) / (kTenth / 100)) + "m");
}

}  // namespace

std::vector<std::string> SuggestedNames() {
  return {"configmaps", "limits.cpu",   "limits.memory",          "persistentvolumeclaims",
          "pods",       "requests.cpu", "requests.memory",        "requests.storage",
          "secrets",    "services",     "services.loadbalancers", "services.nodeports"};
}

base::Result<int> ParseHeadroom(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
  double number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const double share = percent ? number / 100 : number;
  const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  if (!whole || !(share >= 0 && share <= 10)) {
    return base::Error{
        .code = base::ErrorCode::kInvalidArgument,
        .message = "--headroom " + std::string(text) + " is not a share such as 20% or 0.2"};
  }
  return static_cast<int>(share * 100 + 0.5);
}

Quantity WithHeadroom(std::string_view name, const Quantity& used, int percent) {
  const Quantity more = used.Mul(100 + percent);
  if (more.IsSaturated() || more.Sign() <= 0) return used;
  const Int128 nanos = RoundedUp(more.nanos(), 100) / 100;
  if (IsBytes(name)) return Bytes(nanos);
  if (name.ends_with("cpu")) return Cores(nanos);
  return Written(Digits(RoundedUp(nanos, quantity::kNanosPerOne) / quantity::kNanosPerOne));
}

std::string SuggestionText(const std::string& ns, const quota::ResourceList& used, int percent,
                           const std::vector<std::string>& unknown) {
  json::Object hard;
  std::string text = Line("# What is used now, and " + std::to_string(percent) + " % more:");
  for (const auto& [name, amount] : used) {
    if (amount.Sign() <= 0) continue;
    hard.Set(name, WithHeadroom(name, amount, percent).ToString());
    text += Line("#   " + name + ": " + amount.ToString());
  }
  for (const std::string& why : unknown) text += Line("# unknown: " + why);
  json::Value quota = json::Object{{"apiVersion", "v1"}, {"kind", "ResourceQuota"}};
  quota.Make({"metadata", "name"}) = "suggested";
  quota.Make({"metadata", "namespace"}) = ns;
  quota.Make({"spec", "hard"}) = std::move(hard);
  return text + HarmlessYaml(config::WriteYaml(quota));
}

}  // namespace inspect
