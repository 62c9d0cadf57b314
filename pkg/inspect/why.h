#pragma once

// Why something has not the pods that it wants: what one more needs in each quota on the way, which
// lacks how much, and what would make room. Values; any thread.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/inspect/fit.h"
#include "pkg/inspect/holders.h"

namespace inspect {

struct WhyName {
  std::string name;
  std::optional<quota::Quantity> used;  // nullopt: nobody has counted it yet
  quota::Quantity hard;
  quota::Quantity each;                           // what one pod needs
  quota::Quantity held{};                         // guaranteed to others, when all have come
  std::optional<quota::Quantity> lacks_for_next;  // nullopt: the next one fits
  std::optional<quota::Quantity> lacks_for_all;   // nullopt: all that are missing fit
};

struct WhyQuota {
  std::string quota;
  std::vector<WhyName> names;
  std::string objection;  // what it demands of the pod and does not find; "" if nothing
  // Of a ClusterQuota: its mode, and what it says to the next pod.
  std::string mode{};  // "": it is none
  std::string text{};  // "": it admits it
  [[nodiscard]] bool Tried() const { return !mode.empty() && mode != "Deny"; }
  [[nodiscard]] bool Refuses() const;
};

struct Refusal {
  std::string message;
  base::WallTime last;
  std::int64_t times = 1;
};

struct WhyAnswer {
  ObjectName of;
  ObjectName top;  // its topmost owner, or itself: by whom its pods are held
  std::int64_t wants = 0;
  std::int64_t has = 0;
  quota::ResourceList each;  // of the names that some quota limits
  std::vector<WhyQuota> quotas;
  std::vector<std::string> refusals;  // of each pod, before quotas are asked
  std::optional<Refusal> refusal;
  std::string room;  // "raise …, or delete …"; "" where none is needed
  [[nodiscard]] bool Refused() const;
};

// `demand` is what one pod asks of each of the quotas of `fit`.
WhyAnswer Explain(const ObjectName& of, std::int64_t wants, std::int64_t has, const FitBook& fit,
                  const Demand& demand);

// Who uses what a quota lacks: the quota, a name, and its holders.
struct LackHolders {
  std::string quota;
  std::string name;
  std::vector<Holder> holders;
  bool cluster = false;  // it is a ClusterQuota
};

// The smallest changes that let all pods come: raised limits, or one thing that could go.
std::string RoomFor(const WhyAnswer& answer, const std::vector<LackHolders>& lacks);

// For people; `now` is the time that refusals are told by.
std::string WhyText(const WhyAnswer& answer, base::WallTime now);
json::Value WhyValue(const WhyAnswer& answer);

// "12 s", "5 min", "3 h", "2 d".
std::string AgeText(base::WallTime::duration age);

}  // namespace inspect
