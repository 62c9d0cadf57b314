#include "tests/differential/departures.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>

#include "pkg/api/time.h"

namespace differential {
namespace {

using quantity::Int128;
using quantity::Quantity;
using quota::ScopeOperator;

constexpr std::string_view kMostNanos = "170141183460469231731687303715884105727";
constexpr long double kNanosPerOne = 1e9L;

bool IsLabelValue(std::string_view value) {
  const auto is_end = [](unsigned char c) { return std::isalnum(c) != 0; };
  const auto is_inner = [&](unsigned char c) {
    return is_end(c) || c == '-' || c == '_' || c == '.';
  };
  return value.empty() || (value.size() <= 63 && std::ranges::all_of(value, is_inner) &&
                           is_end(static_cast<unsigned char>(value.front())) &&
                           is_end(static_cast<unsigned char>(value.back())));
}

// The sum of the magnitudes of everything below that could be an amount.
long double MagnitudeOf(const json::Value& value) {
  long double sum = 0;
  if (const json::Array* list = value.AsArray()) {
    for (const json::Value& element : *list) sum += MagnitudeOf(element);
  } else if (const json::Object* object = value.AsObject()) {
    for (const auto& [name, member] : *object) sum += MagnitudeOf(member);
  } else if (value.IsString()) {
    const auto amount = Quantity::Parse(*value.AsString());
    if (amount) sum = std::fabs(static_cast<long double>(amount->nanos()) / kNanosPerOne);
  }
  return sum;
}

}  // namespace

std::string Departures::ToString() const {
  constexpr std::array<std::string_view, 9> kNames = {
      "beyond the limit",       "exponent beyond 32 bits", "suffix beyond E or Ei",
      "no label selector",      "operator on a predicate", "pod being removed",
      "devices beyond 64 bits", "update without need",     "extended resource without a count"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (met_[i] == 0) continue;
    text.append(text.empty() ? "" : ", ").append(std::to_string(met_[i])).append(" × ");
    text.append(kNames[i]);
  }
  return text.empty() ? "none" : text;
}

bool IsBeyondLimit(std::string_view nanos) {
  if (nanos.starts_with('-')) nanos.remove_prefix(1);
  return nanos.size() > kMostNanos.size() ||
         (nanos.size() == kMostNanos.size() && nanos > kMostNanos);
}

std::string WithDroppedSuffix(const Quantity& number) {
  constexpr Int128 kOne = 1'000'000'000;
  Int128 rest = number.nanos();
  if (rest == 0 || rest % kOne != 0 || number.format() == quantity::Format::kDecimalExponent) {
    return "";
  }
  rest /= kOne;
  const Int128 base = number.format() == quantity::Format::kBinarySI ? 1024 : 1000;
  int stripped = 0;
  for (; rest % base == 0; ++stripped) rest /= base;
  if (stripped < 7) return "";
  std::string digits;
  for (Int128 left = rest < 0 ? -rest : rest; left != 0; left /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
  }
  return (rest < 0 ? "-" : "") + digits;
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

bool MayPassLimit(const json::Value& object) {
  // A little less, because the sum is rounded.
  return MagnitudeOf(object) > 1.7e29L;
}

bool HasManyDevices(const json::Object& usage) {
  constexpr std::string_view kMost = "9223372036854775807000000000";
  return std::ranges::any_of(usage, [&](const json::Member& member) {
    const std::string_view nanos = member.second.StringAt({"nanos"});
    return member.first.ends_with(".deviceclass.resource.k8s.io/devices") &&
           (nanos.size() > kMost.size() || (nanos.size() == kMost.size() && nanos > kMost));
  });
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
