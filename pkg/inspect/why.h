#pragma once

// Explains why a workload has fewer pods than it wants: what one more pod needs of each quota,
// which quota lacks how much, and what would make room. Values; any thread.

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/inspect/fit.h"
#include "pkg/inspect/holders.h"

namespace inspect {

struct WhyName {
  std::string name;
  std::optional<quota::Quantity> used;  // nullopt: not counted yet
  quota::Quantity hard;
  quota::Quantity each;    // what the next pod needs; 0: only later ones need anything
  quota::Quantity held{};  // guaranteed to others once all missing pods exist
  std::optional<quota::Quantity> lacks_for_next;  // nullopt: the next one fits
  std::optional<quota::Quantity> lacks_for_all;   // nullopt: all that are missing fit
};

// A value that the pods must specify and do not.
struct MissingValue {
  std::string name;       // "limits.memory"
  std::string what;       // "limits.memory for: c,d"
  quota::Quantity least;  // what all missing pods need at least once they specify it
  quota::Quantity used;
  quota::Quantity hard;
};

struct WhyQuota {
  std::string quota;  // FitBook::NameOf()
  std::vector<WhyName> names;
  std::string objection;                // what the pod must specify but does not; "" if nothing
  std::vector<MissingValue> missing{};  // the same in parts
  // For a ClusterQuota: its mode, and its refusal of the next pod.
  std::string mode{};  // "": not a ClusterQuota
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
  ObjectName top;               // its topmost owner, or itself, which holds its pods
  std::string of_what = "pod";  // what it wants
  std::int64_t wants = 0;
  std::int64_t has = 0;
  std::string wants_unknown;              // why it is not known what it wants; "": it is known
  std::vector<std::string> unknown = {};  // why it is not known whether quotas refuse the next one
  std::int64_t earlier = 0;               // pods of an earlier template, which a rollout replaces
  quota::ResourceList each;  // what the next pod needs, of the names that some quota limits
  std::vector<WhyQuota> quotas;
  std::vector<std::string> refusals;  // of each pod, before amounts are compared
  std::optional<Refusal> refusal;
  // Titles of objects whose deletion helps nothing: claims of its pods, and objects that would not
  // go at once.
  std::set<std::string> stay = {};
  std::string room;  // "raise …, or delete …"; "" if no room is needed
  // It is known that it lacks none.
  [[nodiscard]] bool Satisfied() const { return wants_unknown.empty() && has >= wants; }
  // One more would be refused, whether it is wanted or not.
  [[nodiscard]] bool RefusesMore() const;
  // One that it lacks is refused.
  [[nodiscard]] bool Refused() const { return has < wants && RefusesMore(); }
};

// The claims of one template, which a StatefulSet creates before its missing pods.
struct ClaimDemand {
  Demand each;
  std::int64_t missing = 0;
  bool for_next = false;  // the next pod needs one
};

// `demand` is what one pod needs of each quota of `fit`. At most `at_once` of the missing pods are
// created before others are deleted.
WhyAnswer Explain(const ObjectName& of, std::int64_t wants, std::int64_t has, const FitBook& fit,
                  const Demand& demand,
                  std::int64_t at_once = std::numeric_limits<std::int64_t>::max(),
                  const std::vector<ClaimDemand>& claims = {});

// Adds what missing values need: WhyQuota::missing. `least` is what one pod needs if it specifies
// them as low as the server allows, and `pods` are created at once.
void TellMissing(const FitBook& fit, const Demand& least, std::int64_t pods, WhyAnswer& answer);

// Adds what the quotas of another API say of the same objects.
void Join(WhyAnswer more, WhyAnswer& answer);

// The holders of a name that a quota lacks.
struct LackHolders {
  std::string quota;
  std::string name;
  std::vector<Holder> holders;
  bool cluster = false;  // it is a ClusterQuota
};

// Returns the smallest changes that make room for all pods: values to specify, raised limits, or
// one object to delete. "" if the server refuses them whatever is free.
std::string RoomFor(const WhyAnswer& answer, const std::vector<LackHolders>& lacks);

// The text for the terminal; ages of refusals are relative to `now`.
std::string WhyText(const WhyAnswer& answer, base::WallTime now);
json::Value WhyValue(const WhyAnswer& answer);

// "12 s", "5 min", "3 h", "2 d".
std::string AgeText(base::WallTime::duration age);

}  // namespace inspect
