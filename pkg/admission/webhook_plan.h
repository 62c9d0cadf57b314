#pragma once

// Decides what the stored webhook configuration ought to be and what to write next; the keeper
// (webhook_keeper.h) performs.
//
// A rule is wanted for a resource in one namespace, or in all; each is added as soon as it is
// wanted. It goes only when nothing has wanted it for a while, and never before its quota API has
// said what it wants: so a start, and a replica that sees a quota later than another, takes away no
// rule. What nothing wants and another replica has taken away is not put back. A rule counts as
// stored once the API server has shown it and had time to hear of it itself, and from then on until
// we give it up.
//
// No I/O, one thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/admission/webhook_configuration.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace admission {

struct WebhookPlanOptions {
  ConfigurationOptions configuration;
  std::vector<std::string> quota_apis;  // that will say what they want
  base::Duration grace = std::chrono::seconds(30);
  // From an acknowledged write until every API server process acts by it.
  base::Duration propagation = std::chrono::milliseconds(500);
};

class WebhookPlan {
 public:
  explicit WebhookPlan(WebhookPlanOptions options);

  // All that this quota API wants, from now on; resources that the server serves, or a tenant's
  // quota could fill the object with names of its own. REQUIRES: it is one of `quota_apis`.
  void SetWanted(base::TimePoint now, const std::string& quota_api,
                 const std::vector<GuardedResource>& wanted);
  void SetCaBundle(base::TimePoint now, std::string pem);
  // What the API server shows; null: there is no such object. Older than what is known: ignored.
  void OnLive(base::TimePoint now, const json::Value* live);
  // Where nobody is asked about anything yet, that begins with Begin() and not before.
  void WaitToBegin() { waits_to_begin_ = true; }
  void Begin() { waits_to_begin_ = false; }
  [[nodiscard]] bool WaitsToBegin() const { return waits_to_begin_; }
  // What the object is to be owned by; null: by nobody.
  void SetOwner(json::Value reference) { options_.configuration.owner = std::move(reference); }
  // Who holds the lease, as far as is known.
  void SetLeader(std::string_view identity) { leader_ = identity; }
  // Everything is let pass: an admin has said so, or the leader, which enforces nothing.
  [[nodiscard]] bool IsOpen() const { return is_open_; }
  // Lets time pass: gives up rules, and lets stored ones count.
  void Advance(base::TimePoint now);

  struct Write {
    bool create = false;  // else a merge patch
    json::Value body;
  };
  // What must be written to make the server's object right; nullopt: nothing, or not yet.
  [[nodiscard]] std::optional<Write> Next() const;
  // True if the server's object is as it ought to be.
  [[nodiscard]] bool IsRight() const { return live_ && ca_pem_ && !IsForeign() && !Next(); }
  // When Advance() may have something to do next.
  [[nodiscard]] std::optional<base::TimePoint> NextDeadline() const;

  [[nodiscard]] bool Stored(std::string_view quota_api, const api::GroupResource& resource,
                            std::string_view ns) const;
  // The same, and nobody is about to give it up.
  [[nodiscard]] bool StaysStored(std::string_view quota_api, const api::GroupResource& resource,
                                 std::string_view ns) const;
  // True once after the answers of Stored() changed.
  bool TakeChanged() { return std::exchange(changed_, false); }
  // The stored object is not labelled as ours, or is another installation's: it is left alone.
  [[nodiscard]] bool IsForeign() const;
  // Whose it is, if that is another installation; else "".
  [[nodiscard]] std::string OtherInstallation() const;
  // What the server has; null: nothing, or not known.
  [[nodiscard]] const json::Value* live() const { return live_ ? &*live_ : nullptr; }
  // The API server has been told to trust exactly these certificates, or calls nobody.
  [[nodiscard]] bool IsCaBundleStored(std::string_view pem) const;
  // Why an API server that asks as the stored object says does not trust who shows these
  // certificates; "" if it does, or asks nobody.
  [[nodiscard]] std::string WhyNotTrusted(const std::string& chain_pem) const;
  // The stored object differs in nothing but the CA bundle.
  [[nodiscard]] bool HasOtherCaBundle() const;
  // Why the rules are not, or may not be, as wanted; "" if all is well.
  [[nodiscard]] std::string Missing() const;
  // Of these reasons those for which nothing of ours is, or may be, stored.
  [[nodiscard]] std::string WhyNotOurs() const;
  // REQUIRES: IsOpen().
  [[nodiscard]] std::string WhyOpen() const;
  [[nodiscard]] const std::string& name() const { return options_.configuration.name; }

 private:
  using Key = std::pair<std::string, api::GroupResource>;
  struct Place {
    std::optional<base::TimePoint> unwanted_since;  // nullopt: wanted
    std::optional<base::TimePoint> shown_since;     // by the server, as it ought to be
    bool stored = false;
  };
  struct Rule {
    GuardedResource guarded;                           // of its namespaces nothing is said here
    std::map<std::string, Place, std::less<>> places;  // by namespace; "": all
  };
  using WantedPlaces = std::map<Key, std::set<std::string>>;
  [[nodiscard]] base::TimePoint GivenUpAt(const Place& place) const {
    return *place.unwanted_since + options_.grace;
  }
  [[nodiscard]] bool MayGiveUp(const Rule& rule, const Place& place) const;
  void Want(const GuardedResource& guarded, WantedPlaces& wanted);
  void NoticeUnwanted(base::TimePoint now, const std::string& quota_api,
                      const WantedPlaces& wanted);
  [[nodiscard]] json::Value Desired() const;
  void NoticeOpen();
  void AdoptLive(base::TimePoint now);
  void Adopt(base::TimePoint now, const GuardedResource& guarded);
  void ForgetUnwanted(const std::vector<GuardedResource>& live);
  void NoticeShown(base::TimePoint now);
  [[nodiscard]] bool IsIn(const Namespaces& namespaces, const std::string& place) const;

  WebhookPlanOptions options_;
  std::map<Key, Rule> rules_;
  std::set<std::string> told_;  // quota APIs that said what they want
  std::optional<std::string> ca_pem_;
  bool known_ = false;  // live_ is what the server has
  std::optional<json::Value> live_;
  bool changed_ = false;
  bool waits_to_begin_ = false;
  std::string leader_;
  bool is_open_ = false;
};

}  // namespace admission
