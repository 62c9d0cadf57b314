#pragma once

// Decides what the stored webhook configuration should contain and what to write next. The keeper
// (webhook_keeper.h) performs the writes.
//
// A rule is wanted for a resource in a place: one namespace, those with a label, or all. A wanted
// rule is added at once. A rule is removed when no quota has wanted it for the grace period, and
// never before its quota API has reported its wanted rules. So neither a restart nor a replica
// whose watch lags removes a rule that is needed. If another replica removed an unwanted rule, it
// is not restored.
//
// If several quota APIs want the same of a resource, one rule is stored for all their places, in a
// webhook of their own, whose path names them all ("/validate/cluster.core"): each call decides for
// all of them, so one is enough. A replica that does not enforce all of them does not answer it.
//
// A rule counts as stored when the API server has returned it and had time to learn of it by its
// own watch. It then counts as stored until we give it up, or want another one in its place.
//
// No I/O, one thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/json/value.h"
#include "pkg/quota/cluster/place.h"
#include "pkg/webhook/open_state.h"
#include "pkg/webhook/webhook_configuration.h"

namespace webhook {

struct WebhookPlanOptions {
  ConfigurationOptions configuration;
  std::vector<std::string> quota_apis;  // each will call SetWanted()
  base::Duration grace = std::chrono::seconds(30);
  // From an acknowledged write until every API server process has learned of it.
  base::Duration propagation = std::chrono::milliseconds(500);
};

class WebhookPlan {
 public:
  explicit WebhookPlan(WebhookPlanOptions options);

  // Sets all rules that this quota API wants. The caller leaves out resources that the server does
  // not serve, or a tenant's quota could fill the object with invented names. REQUIRES: it is one
  // of `quota_apis`.
  void SetWanted(base::TimePoint now, const std::string& quota_api,
                 const std::vector<GuardedResource>& wanted);
  void SetCaBundle(base::TimePoint now, std::string pem);
  // Takes the object that the API server returned; null: there is none. An older version than the
  // known one is ignored, unless it is `true_if_older`: the server was restored to an earlier
  // state.
  void OnLive(base::TimePoint now, const json::Value* live, bool true_if_older = false);
  // After WaitToBegin(), the first rules are written only after Begin(). If the object has rules
  // already, this changes nothing.
  void WaitToBegin() { waits_to_begin_ = true; }
  void Begin() { waits_to_begin_ = false; }
  [[nodiscard]] bool WaitsToBegin() const { return waits_to_begin_; }
  // Sets the owner of the object; null: none.
  void SetOwner(json::Value reference) { options_.configuration.owner = std::move(reference); }
  // Sets the identity that holds the lease; "" if it is unknown.
  void SetLeader(std::string_view identity) { open_.SetLeader(identity); }
  // As OpenState::IsOpen() and Why(), since the last call of Advance() or OnLive().
  [[nodiscard]] bool IsOpen() const { return open_.IsOpen(); }
  [[nodiscard]] std::string WhyOpen() const { return open_.Why(); }
  // Gives up rules whose grace period is over. Rules that have propagated count as stored from now
  // on.
  void Advance(base::TimePoint now);

  struct Write {
    bool create = false;  // else a merge patch
    json::Value body;
  };
  // The next write that makes the server's object as desired; nullopt: none is needed or possible
  // yet.
  [[nodiscard]] std::optional<Write> Next() const;
  // True if the server's object is as desired.
  [[nodiscard]] bool IsRight() const { return live_ && ca_pem_ && !IsForeign() && !Next(); }
  // When Advance() is due next; nullopt: never.
  [[nodiscard]] std::optional<base::TimePoint> NextDeadline() const;

  [[nodiscard]] bool Stored(std::string_view quota_api, const api::GroupResource& resource,
                            std::string_view ns) const {
    return Stored(quota_api, resource, {.all_but = false, .names = {std::string(ns)}});
  }
  // True if the rule is stored for all these namespaces, except exempt ones. `where.all_but`: for
  // all.
  [[nodiscard]] bool Stored(std::string_view quota_api, const api::GroupResource& resource,
                            const Namespaces& where) const;
  // True if a rule that is stored, or will be, may select the namespace, whatever its labels are.
  [[nodiscard]] bool MaySelect(std::string_view quota_api, const api::GroupResource& resource,
                               std::string_view ns) const;
  // What the API server does not ask us about, although it is wanted, as the stored object shows.
  struct Unasked {
    std::string why = {};                         // about nothing at all; "": it asks
    std::set<api::GroupResource> resources = {};  // whose rules it does not have as desired
  };
  // nullopt: the object, or what this quota API wants, is not known yet.
  [[nodiscard]] std::optional<Unasked> UnaskedOf(const std::string& quota_api) const;
  // True once after results of Stored() changed.
  bool TakeChanged() { return std::exchange(changed_, false); }
  // True if the stored object lacks our label or belongs to another installation. It is then left
  // alone.
  [[nodiscard]] bool IsForeign() const;
  // The name of the other installation that owns the object; "" if there is none.
  [[nodiscard]] std::string OtherInstallation() const;
  // The server's object; null: there is none, or it is not known yet.
  [[nodiscard]] const json::Value* live() const { return live_ ? &*live_ : nullptr; }
  // True if the stored object trusts exactly these certificates, or there is no object.
  [[nodiscard]] bool IsCaBundleStored(std::string_view pem) const;
  // Why API servers that follow the stored object do not trust this certificate chain; "" if they
  // do, or call nobody.
  [[nodiscard]] std::string WhyNotTrusted(const std::string& chain_pem) const;
  // True if the stored object differs from the desired one only in the CA bundle, which is that of
  // another daemon.
  [[nodiscard]] bool HasOtherDaemonsCa() const;
  // True if the desired object is this one: the answer to a write is what we wrote.
  [[nodiscard]] bool IsDesired(const json::Value& stored) const;
  // Why the stored rules are not the wanted ones, or not known to be; "" if they are.
  [[nodiscard]] std::string Missing() const;
  // The part of these reasons that concerns the whole object: it is unknown, or not ours.
  [[nodiscard]] std::string WhyNotOurs() const;
  [[nodiscard]] const std::string& name() const { return options_.configuration.name; }

 private:
  using Key = std::pair<std::string, api::GroupResource>;
  using Place = quota::Place;
  struct State {
    std::optional<base::TimePoint> unwanted_since;  // nullopt: wanted
    std::optional<base::TimePoint> shown_since;     // in the server's object, as desired
    bool stored = false;
  };
  struct Rule {
    GuardedResource guarded;  // without its namespaces
    std::map<Place, State> places;
    [[nodiscard]] bool IsStoredIn(const Place& place) const;
  };
  using WantedPlaces = std::map<Key, std::set<Place>>;
  // REQUIRES: it is not wanted.
  [[nodiscard]] base::TimePoint GivenUpAt(const State& state) const;
  [[nodiscard]] bool MayGiveUp(const Rule& rule, const State& state) const;
  [[nodiscard]] const Rule* Find(std::string_view quota_api,
                                 const api::GroupResource& resource) const;
  static std::set<Place> PlacesOf(const Namespaces& namespaces);
  void Want(const GuardedResource& guarded, WantedPlaces& wanted);
  void NoticeUnwanted(base::TimePoint now, const std::string& quota_api,
                      const WantedPlaces& wanted);
  [[nodiscard]] json::Value Desired() const;
  void AdoptLive(base::TimePoint now);
  void Adopt(base::TimePoint now, const GuardedResource& guarded);
  void ForgetUnwanted(const std::vector<GuardedResource>& live);
  void NoticeShown(base::TimePoint now);
  [[nodiscard]] bool IsIn(const Namespaces& namespaces, const Place& place) const;

  WebhookPlanOptions options_;
  std::map<Key, Rule> rules_;
  std::set<std::string> told_;  // quota APIs that called SetWanted()
  std::optional<std::string> ca_pem_;
  bool known_ = false;  // live_ is the server's state
  std::optional<json::Value> live_;
  bool changed_ = false;
  bool waits_to_begin_ = false;
  OpenState open_;
};

}  // namespace webhook
