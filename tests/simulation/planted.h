#pragma once

// Faults that are built in on purpose, to show that the simulation finds what it looks for. None of
// them is in the product: each is a wrapper around what the product is given, or an option of it.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/admission/quota_book.h"
#include "pkg/admission/review.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"
#include "tests/simulation/objects.h"

namespace simulation {

enum class Planted : std::uint8_t {
  kNone,
  kChargePerCall,     // each call is about another object
  kUnguardedWrite,    // a status is written whatever it is meanwhile
  kLoweredTooEarly,   // reservations end before their object can be seen
  kNoExpiry,          // reservations of what was never stored stay
  kLeaseTrusted,      // a stopped process does not see that its lease ended
  kStaleBatch,        // decided against the status before the last
  kEventLost,         // and nobody lists again
  kDoubleWrite,       // each status is written twice
  kForgottenOld,      // an update is taken for a creation
  kAnswerTrusted,     // a write without an answer is taken for made
  kNeighbourIgnored,  // reservations end before the slowest webhook has answered
  kNewestKept,        // what was known in a later version is the truth
  kGoingFree,         // what is being deleted grows uncharged
  kClassFrozen,       // a class that changes moves nothing
  kClassRemembered,   // one that went is not missing
  kMissingFree,       // what nobody can tell is nothing
  kClassNotRead,      // only a watch shows classes
  kDroppedEarly,      // entries end before their object was shown
  kNotAsked,          // they end early, and the server is not asked
  kNoFloor,           // who is behind an earlier recount recounts
  kParentForgotten,   // a quota above is not asked
  kGuaranteeGiven,    // what is promised to a quota is free for its siblings
  kNamespaceMissed,   // a group lacks a namespace
  kLabelsFrozen,      // a namespace that gets other labels moves nothing
};

struct PlantedName {
  Planted planted;
  std::string name;
  std::string broken;    // what the simulation says of the invariant that it breaks
  Api api = Api::kCore;  // it is about what such schedules have
};
const std::vector<PlantedName>& AllPlanted();

// Around a replica's link.
class PlantedClient final : public client::ApiClient {
 public:
  PlantedClient(client::ApiClient& inner, Planted planted) : inner_(inner), planted_(planted) {}
  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override;

 private:
  // Each quota as it was in the latest version that was ever shown.
  void KeepNewest(json::Value& said);
  std::string Newest(const std::string& body);

  client::ApiClient& inner_;
  Planted planted_;
  std::map<std::string, json::Value> newest_;  // by uid
  int events_ = 0;
};

// What a stale batch is decided against.
class StaleQuotas {
 public:
  // The quotas as they are, but with the `used` that each had before its last change.
  std::vector<admission::BookedQuota> Age(std::vector<admission::BookedQuota> quotas);

 private:
  struct Known {
    quota::Quota now;
    quota::Quota shown;
  };
  std::map<std::string, Known> known_;  // by uid
};

void Plant(Planted planted, std::uint64_t call, admission::Review& review);
// Of what a book says.
void Plant(Planted planted, std::vector<admission::BookedQuota>& quotas);
void Plant(Planted planted, std::vector<quota::TreePlace>& places);
void Plant(Planted planted, quota::QuotaApi& api);

}  // namespace simulation
