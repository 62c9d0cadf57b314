#include "tests/differential/departures.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <limits>

#include "pkg/api/time.h"

namespace differential {
namespace {

using quantity::Int128;
using quantity::Quantity;
using quota::ScopeOperator;

constexpr std::string_view kMostNanos = "170141183460469231731687303715884105727";

bool IsLabelValue(std::string_view value) {
  const auto is_end = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto is_inner = [&](unsigned char c) {
    return is_end(c) || c == '-' || c == '_' || c == '.';
  };
  return value.empty() || (value.size() <= 63 && std::ranges::all_of(value, is_inner) &&
                           is_end(static_cast<unsigned char>(value.front())) &&
                           is_end(static_cast<unsigned char>(value.back())));
}

}  // namespace

std::string Departures::ToString() const {
  constexpr std::array<std::string_view, 9> kNames = {"saturated",
                                                      "exponent beyond 32 bits",
                                                      "text that does not read back",
                                                      "no label selector",
                                                      "operator on a predicate",
                                                      "pod being removed",
                                                      "devices beyond 64 bits",
                                                      "update without need",
                                                      "extended resource without a count"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (met_[i] == 0) continue;
    text.append(text.empty() ? "" : ", ").append(std::to_string(met_[i])).append(" × ");
    text.append(kNames[i]);
  }
  return text.empty() ? "none" : text;
}

bool IsSaturation(const Quantity& ours, std::string_view nanos) {
  const bool negative = nanos.starts_with('-');
  if (negative) nanos.remove_prefix(1);
  const bool large = nanos.size() > kMostNanos.size() ||
                     (nanos.size() == kMostNanos.size() && nanos >= kMostNanos);
  return large && ours.IsSaturated() && negative == (ours.Sign() < 0);
}

bool HasOtherText(const Quantity& number) {
  constexpr Int128 kLargestBinary =
      Int128{std::numeric_limits<std::int64_t>::max()} * 1'000'000'000;
  constexpr Int128 kNoSuffix = Int128{1'000'000'000'000'000} * 1'000'000'000'000'000;  // 10^21
  const Int128 nanos = number.nanos() < 0 ? -number.nanos() : number.nanos();
  switch (number.format()) {
    case quantity::Format::kBinarySI:
      return nanos > kLargestBinary;
    case quantity::Format::kDecimalSI:
      return nanos % kNoSuffix == 0;
    case quantity::Format::kDecimalExponent:
      return false;
  }
  return false;
}

bool HasManyDevices(const quota::ResourceList& usage) {
  constexpr Int128 kMost = Int128{std::numeric_limits<std::int64_t>::max()} * 1'000'000'000;
  return std::ranges::any_of(usage, [](const auto& item) { return item.second.nanos() > kMost; });
}

bool ExponentWraps(std::string_view text) {
  const std::size_t letter = text.find_last_of("eE");
  if (letter == std::string_view::npos) return false;
  std::string_view digits = text.substr(letter + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  return error == std::errc() && end == digits.data() + digits.size() &&
         exponent != static_cast<std::int32_t>(exponent);
}

bool IsNoLabelSelector(const quota::ScopeRequirement& requirement) {
  switch (requirement.op) {
    case ScopeOperator::kExists:
      return false;
    case ScopeOperator::kDoesNotExist:
      return !requirement.values.empty();
    case ScopeOperator::kIn:
    case ScopeOperator::kNotIn:
      return requirement.values.empty() || !std::ranges::all_of(requirement.values, IsLabelValue);
  }
  return false;
}

bool IsBeingRemoved(const json::Value& object, base::WallTime now) {
  const auto deleted = api::ParseTime(object.StringAt({"metadata", "deletionTimestamp"}));
  const json::Value* grace = object.At({"metadata", "deletionGracePeriodSeconds"});
  if (!deleted || grace == nullptr || !grace->AsInt64()) return false;
  const base::WallTime end = *deleted + std::chrono::seconds(*grace->AsInt64());
  return end < now && now <= end + std::chrono::seconds(2);
}

bool IsOperatorOnPredicate(const quota::ScopeRequirement& requirement) {
  constexpr std::array<std::string_view, 5> kPredicates = {
      "Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity"};
  return requirement.op != ScopeOperator::kExists &&
         std::ranges::find(kPredicates, requirement.scope) != kPredicates.end();
}

bool IsFreeUpdate(const quota::Request& request, const quota::Verdict& verdict,
                  std::string_view refusal) {
  const bool free = request.before && verdict.kind == quota::Verdict::Kind::kFree;
  return free &&
         (refusal.find("is forbidden: failed quota: ") != std::string_view::npos ||
          refusal.find("is forbidden: status unknown for quota: ") != std::string_view::npos);
}

bool IsUncounted(const quota::Request& request, const quota::Quota& quota,
                 std::string_view refusal) {
  const std::string unknown = "is forbidden: status unknown for quota: " + quota.key.name + ",";
  const auto& shares = request.evaluator->guard.shares;
  if (!shares || refusal.find(unknown) == std::string_view::npos) return false;
  const auto names = quota::OwnedNames(*request.evaluator, quota.status.hard, request.classes);
  return std::ranges::all_of(names, [&](const std::string& name) {
    return quota.status.used.Find(name) != nullptr ||
           (shares(name) && request.after.usage.Find(name) == nullptr);
  });
}

}  // namespace differential
