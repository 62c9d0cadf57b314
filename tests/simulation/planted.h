#pragma once

// Faults that are planted on purpose, to show that the simulation finds them. None is in the
// product: each is an option of the product or wraps one of its inputs.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/admission/review.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"
#include "tests/simulation/objects.h"

namespace simulation {

enum class Planted : std::uint8_t {
  kNone,
  kChargePerCall,      // each call is about another object
  kUnguardedWrite,     // a status is written without a guard by version
  kLoweredTooEarly,    // reservations end before their object can be seen
  kNoExpiry,           // reservations for objects that were never stored do not expire
  kLeaseTrusted,       // a stopped process does not see that its lease ended
  kStaleBatch,         // a batch is decided against the status before the last
  kEventLost,          // events are lost, and no list repairs that
  kDoubleWrite,        // each status is written twice
  kForgottenOld,       // an update is taken for a creation
  kAnswerTrusted,      // a write without an answer is taken for made
  kErrorTrusted,       // a write that was answered by 5xx is taken for made
  kNeighbourIgnored,   // reservations end before the slowest webhook has answered
  kNewestKept,         // after a restore the later version is taken for the truth
  kGoingFree,          // a terminating object grows uncharged
  kClassFrozen,        // a changed class changes no usage
  kClassRemembered,    // a deleted class is not missing
  kMissingFree,        // unknown usage counts as zero
  kClassNotRead,       // classes are never read live, only watched
  kDroppedEarly,       // entries end before their object was shown
  kNotAsked,           // entries end early, and the server is not asked
  kNoFloor,            // a replica recounts although it is behind an earlier recount
  kParentForgotten,    // a parent quota is not asked
  kGuaranteeGiven,     // the guarantee of a quota is free for its siblings
  kNamespaceMissed,    // a group lacks a namespace
  kLabelsFrozen,       // new labels of a namespace change no usage
  kGoingGone,          // a terminating namespace is taken for deleted
  kRecreatedMissed,    // the labels of a namespace that was created again are not seen
  kModeFrozen,         // a quota stays in the mode in which it was seen first
  kExternalMissed,     // the additions of others to a status are not seen
  kWithdrawForgotten,  // reservations for a refused request stay
  kShortHold,          // reservations are held for 9.9 s, which a slow etcd outlasts
  kDuplicatePassed,    // a creation of a name that exists is admitted without a reservation
  kAmountUnreadable,   // an amount that is too large is an error
  kAmountWraps,        // an amount that is too large becomes a small one
  kUnreadableDropped,  // a quota with an amount that is none has no limits
  kDeletionKept,       // a deleted object is not taken off a sum
  kLaterOverwritten,   // a list of a later format is taken for one of ours
  kForeignTaken,       // the list of another quota is taken for the quota's own
  kFloorProves,        // a floor ahead of the server proves that the server was restored
  kSumKept,            // the sum of the guarantees below a quota stays as it was seen first
  kUnreadWhole,        // if one amount of an object cannot be read, nothing of it counts
  kForgedKept,         // an entry that somebody forged in a replica's name stays in the list
  kEachAlone,          // each quota API decides for itself
  kLeftToOther,        // a call trusts that the webhook of another quota API is called as well
};

struct PlantedName {
  Planted planted;
  std::string name;
  std::string broken;    // part of the violation that the simulation prints
  Api api = Api::kCore;  // the schedules that can find it
  bool odd = false;      // only those with oddities can
};
const std::vector<PlantedName>& AllPlanted();

// Around a replica's link.
class PlantedClient final : public client::ApiClient {
 public:
  // `name`: of the replica.
  PlantedClient(client::ApiClient& inner, Planted planted, std::string name)
      : inner_(inner), planted_(planted), name_(std::move(name)) {}
  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override;

 private:
  // Changes each object of an answer.
  using Rework = std::function<void(json::Value& object)>;
  [[nodiscard]] Rework ReworkOf(const std::string& path);
  // Replaces the quota by the latest version that was ever shown.
  void KeepNewest(json::Value& quota);
  // Removes the labels if the namespace existed before with another uid.
  void TakeLabelsOfRecreated(json::Value& ns);
  void NoteFloor(json::Value& quota);
  // Lets an answer that is older than the floor be older than everything that was shown.
  void AgeBelowFloor(json::Value& answer) const;

  client::ApiClient& inner_;
  Planted planted_;
  std::string name_;
  std::map<std::string, json::Value> newest_;     // by uid
  std::map<std::string, std::string> first_uid_;  // of namespaces, by name
  std::uint64_t floor_ = 0;                       // the highest in a shown list
  int events_ = 0;
};

// The outdated quotas of kStaleBatch.
class StaleQuotas {
 public:
  // Leaves the quotas as they are, but with the `used` that each had before its last change.
  void Age(admission::NamespaceQuotas& here);

 private:
  struct Known {
    quota::Quota now;
    quota::Quota shown;
  };
  std::map<std::string, Known> known_;  // by uid
};

// Keeps the mode of each quota as it was seen first.
class FrozenModes {
 public:
  void Freeze(admission::NamespaceQuotas& here);

 private:
  struct Known {
    quota::ClusterSpec::Enforcement mode;
    quota::Quota shown;
  };
  std::map<std::string, Known> known_;  // by uid
};

// Keeps the sum of the guarantees below each quota as it was seen first.
class FrozenSums {
 public:
  void Freeze(admission::NamespaceQuotas& here);

 private:
  std::map<std::string, quota::ResourceList> below_;  // by uid
};

void Plant(Planted planted, std::uint64_t call, admission::Review& review);
// Changes the answer of a book.
void Plant(Planted planted, admission::NamespaceQuotas& here);
void Plant(Planted planted, quota::QuotaApi& api);

}  // namespace simulation
