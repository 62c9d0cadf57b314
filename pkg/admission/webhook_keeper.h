#pragma once

// Keeps our ValidatingWebhookConfiguration on the API server as the WebhookPlan says: writes it,
// watches it, and repairs what somebody else changed or deleted. Wishes that come in a burst are
// one write. Every replica runs one; they write the same content, each guarded by resourceVersion.
//
// Another installation's configuration is left alone, whatever it says, and that is said.
//
// Two that want different content (a CA bundle of their own each) would write in turn for ever:
// repairs that follow one another wait longer each time, and it is said once.
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
#include "pkg/admission/webhook_plan.h"
#include "pkg/base/asio.h"
#include "pkg/base/backoff.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/event_recorder.h"

namespace admission {

class StoredRulesListener {
 public:
  virtual ~StoredRulesListener() = default;
  // The answers of Stored() changed.
  virtual void OnStoredRules() = 0;
};

struct WebhookKeeperOptions {
  // False: the configuration is the admin's own. Nothing is read or written, and every rule counts
  // as stored.
  bool manage = true;
  WebhookPlanOptions plan;
  // Who holds the lease of the replicas; "" if that is not known. Null: there is none.
  std::function<std::string()> leader;
  // ClusterRoles, the first there is: what is garbage collected with it needs nobody to delete it.
  std::vector<std::string> owner_roles = {};
  base::Duration debounce = std::chrono::milliseconds(100);
  base::BackoffOptions retry{.initial = std::chrono::milliseconds(200), .jitter = 0.5};
  base::BackoffOptions repair{.initial = std::chrono::milliseconds(100), .jitter = 0.5};
  std::chrono::milliseconds write_timeout{10'000};
  // From when a replica can answer until a Service leads to it: two periods of its probe, and time
  // for every node to hear of it.
  base::Duration until_routed = std::chrono::seconds(6);
  informers::ReflectorOptions reflector;    // the defaults; what is watched is set by the keeper
  client::EventRecorder* events = nullptr;  // hears of repairs; may be absent; outlives the keeper
};

class WebhookKeeper final : public informers::CollectionSink {
 public:
  WebhookKeeper(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                client::ApiClient& client, StoredRulesListener& listener,
                WebhookKeeperOptions options);

  // To be called before Run(): where nobody is asked yet, the first rules wait until this was true
  // for `until_routed`, because with failurePolicy Fail somebody must answer. Else that is taken
  // for granted.
  void BeginWhen(std::function<bool()> answers);

  // Runs until cancelled.
  base::Task<void> Run();
  // The installation goes: nothing is written any more.
  void Leave() { leaving_ = true; }

  // All that this quota API wants guarded, from now on. Cheap when it is what it wanted before.
  void SetWanted(const std::string& quota_api, std::vector<GuardedResource> wanted);
  // The certificates by which we are to be trusted, PEM. "": not ours to say, whatever stands there
  // is left alone. Nothing is written before this was called.
  void SetCaBundle(std::string pem);

  // True if the server guards the resource in this namespace: its name may enter status.hard. Stays
  // true while somebody else's change is being repaired, until nothing has wanted the rule for a
  // while.
  [[nodiscard]] bool Stored(std::string_view quota_api, const api::GroupResource& resource,
                            std::string_view ns) const;
  // True if the server asks about the resource in this namespace, and goes on to.
  [[nodiscard]] bool StaysStored(std::string_view quota_api, const api::GroupResource& resource,
                                 std::string_view ns) const {
    return options_.manage && plan_.StaysStored(quota_api, resource, ns);
  }
  // True if the stored configuration trusts exactly these certificates. REQUIRES: manage.
  [[nodiscard]] bool IsCaBundleStored(std::string_view pem) const {
    return plan_.IsCaBundleStored(pem);
  }
  // The configuration belongs to another installation, which nothing is to be done beside.
  [[nodiscard]] bool IsAnothers() const {
    return options_.manage && !plan_.OtherInstallation().empty();
  }
  // True if the stored configuration is as wanted. `why` says what is missing.
  [[nodiscard]] bool Ready(std::string* why) const;
  // True if an API server that asks as the stored configuration says is asking us, and trusts who
  // shows these certificates. `why` says what is wrong.
  [[nodiscard]] bool IsTrusted(const std::string& chain_pem, std::string* why) const;

  void BeginList() override { listed_ = false; }
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;

 private:
  void LearnLeader();
  void TakeLive(const json::Value* live);
  void OnForeignChange();
  void OnWish();
  void Advance();
  void NoticeAnswers();
  [[nodiscard]] bool Due() const;
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
  std::unique_ptr<informers::Reflector> reflector_;
  std::unique_ptr<base::Alarm> alarm_;  // rung when there may be something to do
  base::Backoff retry_;
  base::Backoff repair_;
  base::TimePoint not_before_{};  // no write earlier than this
  base::TimePoint repaired_{};
  int repairs_ = 0;      // in a row
  std::string damage_;   // what somebody did that is not repaired yet; "" if nothing
  std::string trouble_;  // why the last write failed; said already
  bool said_foreign_ = false;
  bool said_open_ = false;
  bool has_owner_ = false;  // and had it before
  bool leaving_ = false;
  bool listed_ = false;  // seen since BeginList()
  std::function<bool()> answers_;
  std::optional<base::TimePoint> answers_since_;
};

}  // namespace admission
