#pragma once

// Maintains our ValidatingWebhookConfiguration on the API server as the WebhookPlan decides: writes
// it, watches it, and repairs it if somebody changes or deletes it. Changes of the wanted rules
// within a short time are one write. Every replica runs a keeper. All write the same content, with
// a resourceVersion.
//
// A configuration of another installation is never written. The log names it.
//
// Two writers that want different content would write in turns forever. repair_pace.h says how soon
// a change is repaired then, and the log names the other writer once.
//
// Single-threaded. Client, scheduler and listener outlive it; Run() must have returned before it is
// destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "informers/reflector.h"
#include "pkg/base/asio.h"
#include "pkg/base/backoff.h"
#include "pkg/base/reminder.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/event_recorder.h"
#include "pkg/webhook/repair_pace.h"
#include "pkg/webhook/webhook_plan.h"

namespace webhook {

class StoredRulesListener {
 public:
  virtual ~StoredRulesListener() = default;
  // Called after results of Stored() changed.
  virtual void OnStoredRules() = 0;
};

struct WebhookKeeperOptions {
  // False: an admin maintains the configuration. The keeper reads and writes nothing, and every
  // rule counts as stored.
  bool manage = true;
  WebhookPlanOptions plan;
  // The identity that holds the lease of the replicas; "" if it is unknown. Null: there is no
  // lease.
  std::function<std::string()> leader;
  // ClusterRoles that may own the object; the first one that exists does. Garbage collection
  // deletes the object with its owner.
  std::vector<std::string> owner_roles = {};
  base::Duration debounce = std::chrono::milliseconds(100);
  base::BackoffOptions retry{.initial = std::chrono::milliseconds(200), .jitter = 0.5};
  // Of a change to the CA of another daemon.
  base::BackoffOptions repair{.initial = std::chrono::milliseconds(100), .jitter = 0.5};
  std::chrono::milliseconds write_timeout{10'000};
  // How long it takes until the Service routes to a replica that is ready: two periods of its
  // probe, and time for every node to learn of it.
  base::Duration until_routed = std::chrono::seconds(6);
  informers::ReflectorOptions reflector;    // the keeper sets what is watched
  client::EventRecorder* events = nullptr;  // for repairs; may be null; outlives the keeper
};

class WebhookKeeper final : public informers::CollectionSink {
 public:
  WebhookKeeper(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                client::ApiClient& client, StoredRulesListener& listener,
                WebhookKeeperOptions options);

  // Call it before Run(), or not at all. If the API server has no rule of ours yet, the first rules
  // wait until `answers` was true for `until_routed`: with failurePolicy Fail a replica must be
  // reachable.
  void BeginWhen(std::function<bool()> answers);

  // Runs until cancelled.
  base::Task<void> Run();
  // Nothing is written from now on, because the installation is being deleted.
  void Leave() { leaving_ = true; }

  // Sets the resources that this quota API wants guarded. Cheap if nothing changed.
  void SetWanted(const std::string& quota_api, std::vector<GuardedResource> wanted);
  // Sets the CA bundle, PEM. "": somebody else maintains the stored bundle, so it is left alone.
  // Nothing is written before the first call.
  void SetCaBundle(std::string pem);

  // True if the API server sends us requests for the resource in this namespace, so its name may
  // enter status.hard. Stays true while the keeper repairs somebody's change. Ends some time after
  // nobody wants the rule any more.
  [[nodiscard]] bool Stored(std::string_view quota_api, const api::GroupResource& resource,
                            std::string_view ns) const;
  // The same for all these namespaces, except exempt ones.
  [[nodiscard]] bool Stored(std::string_view quota_api, const api::GroupResource& resource,
                            const Namespaces& where) const;
  // True if the stored configuration is known, and this quota API has no rule in it, or to be
  // written, that may select the namespace for the resource. Never true if an admin maintains it.
  [[nodiscard]] bool IsAbsent(std::string_view quota_api, const api::GroupResource& resource,
                              std::string_view ns) const;
  // As WebhookPlan::UnaskedOf(). REQUIRES: manage.
  [[nodiscard]] std::optional<WebhookPlan::Unasked> UnaskedOf(const std::string& quota_api) const;
  // True if all requests shall pass: WebhookPlan::IsOpen().
  [[nodiscard]] bool IsOpen() const { return plan_.IsOpen(); }
  // True if the stored configuration trusts exactly these certificates. REQUIRES: manage.
  [[nodiscard]] bool IsCaBundleStored(std::string_view pem) const;
  // True if the configuration belongs to another installation. Then this one must write nothing.
  [[nodiscard]] bool IsAnothers() const {
    return options_.manage && !plan_.OtherInstallation().empty();
  }
  // True if the stored configuration is the wanted one. Otherwise `why` says what is missing.
  [[nodiscard]] bool Ready(std::string* why) const;
  // True if API servers that follow the stored configuration call us and trust this certificate
  // chain. Otherwise `why` says what is wrong. The chain is verified at most once a second:
  // everybody may ask for it (readiness).
  [[nodiscard]] bool IsTrusted(const std::string& chain_pem, std::string* why) const;

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;
  [[nodiscard]] bool IsAhead() const override { return ahead_; }

 private:
  void LearnLeader();
  void TakeLive(const json::Value* live, bool true_if_older = false);
  void OnForeignChange();
  void Repair(base::TimePoint now);
  void OnWish();
  void Advance();
  void NoticeAnswers();
  [[nodiscard]] std::string LiveVersion() const;
  // When the next write is due; the end of time: none is.
  [[nodiscard]] base::TimePoint WritesAt() const;
  [[nodiscard]] base::TimePoint NextLook() const;
  base::Task<void> Write();
  base::Task<bool> FindOwner();
  base::Task<base::Result<std::string>> UidOf(std::string role);
  void SayOpen();
  [[nodiscard]] client::ApiRequest RequestFor(const WebhookPlan::Write& write) const;
  void OnWritten(const json::Value& stored, bool created);
  void OnRefused(const base::Error& error);
  void SayForeign();
  void SayRepaired(const std::string& damage);

  base::asio::any_io_executor executor_;
  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  StoredRulesListener& listener_;
  WebhookKeeperOptions options_;
  WebhookPlan plan_;
  std::map<std::string, std::vector<GuardedResource>> wanted_;  // by quota API
  struct Verified {
    base::TimePoint until{};
    std::string chain_pem;
    std::string wrong;
  };
  mutable Verified verified_;  // the last answer of WebhookPlan::WhyNotTrusted()
  std::unique_ptr<informers::Reflector> reflector_;
  std::unique_ptr<base::Alarm> alarm_;  // woken when there may be something to do
  base::Backoff retry_;
  RepairPace pace_;
  base::TimePoint not_before_{};  // no write earlier than this: several wishes, or a refusal
  base::TimePoint repair_at_{};   // nor than this: somebody's change
  bool slow_repair_ = false;      // repair_at_ is for the CA of another daemon
  bool raced_ = false;            // not_before_ is only until the watch shows who was first
  std::string sent_for_;          // the version that the last write was to change; "": none
  base::TimePoint repaired_{};
  int repairs_ = 0;      // in a row
  std::string damage_;   // somebody's change that is not repaired yet; "": none
  std::string trouble_;  // why the last write failed; logged already
  base::Reminder told_;  // of that
  bool said_foreign_ = false;
  bool said_open_ = false;
  bool has_owner_ = false;  // the object has, or had, an owner
  bool leaving_ = false;
  bool listing_ = false;
  bool listed_ = false;   // the object was in the list since BeginList()
  bool written_ = false;  // by us since then: the list may be older
  bool ahead_ = false;    // we have stored a version that the watch has not shown yet
  std::function<bool()> answers_;
  std::optional<base::TimePoint> answers_since_;
};

}  // namespace webhook
