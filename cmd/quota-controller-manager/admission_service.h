#pragma once

// The daemon's admission: the HTTPS server, its certificate, the webhook configuration, and the
// admitter of all enforced quota APIs. Only wiring; pkg/admission decides.
//
// Single-threaded. Constructor arguments must outlive it; Run() must have returned before it is
// destroyed.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cmd/quota-controller-manager/admission_observer.h"
#include "cmd/quota-controller-manager/flags.h"
#include "controllers/quota/quota_controller.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/admission/refusal_reporter.h"
#include "pkg/debug/health.h"
#include "pkg/http/server.h"
#include "pkg/metrics/admission_metrics.h"
#include "pkg/metrics/registry.h"
#include "pkg/webhook/certificate_source.h"
#include "pkg/webhook/client_authority.h"
#include "pkg/webhook/exempt_namespaces.h"
#include "pkg/webhook/other_webhooks.h"
#include "pkg/webhook/webhook_keeper.h"

namespace manager {

class AdmissionService final : public webhook::StoredRulesListener {
 public:
  // REQUIRES: `options.enforced` is not empty. `installation` tells this installation from others
  // in the same cluster; `leader` returns the holder of its lease. Errors: the certificates cannot
  // be made, or the clients' CA cannot be read.
  static base::Result<std::unique_ptr<AdmissionService>> New(
      base::asio::any_io_executor executor, base::Scheduler& scheduler, client::ApiClient& client,
      client::EventRecorder& events, metrics::Registry& registry, const Options& options,
      const std::string& installation, std::function<std::string()> leader);

  // Sets the admission part of the options of an enforced quota API's controllers.
  void Prepare(const std::string& quota_api, controllers::QuotaControllerOptions& options);
  // Decides requests for this quota API while a controller with those options is attached. Before
  // the first one, and before HasNone(), nothing is admitted that its quotas may limit.
  void Enforce(const quota::QuotaApi& api);
  // These quotas are counted by this daemon and enforced by somebody else. They advise about
  // requests that ClusterQuotas limit (admission::QuotaAdmitter::Advise()), while a controller is
  // attached.
  void Advise(const quota::QuotaApi& api);
  void Attach(const std::string& quota_api, controllers::QuotaController& controller);
  // Returns when nobody uses the controller's book any more.
  base::Task<void> Detach(std::string quota_api);
  // The server does not serve the quota API, so it has no quotas, and needs no webhook rules.
  // REQUIRES: no controller is attached.
  void HasNone(const std::string& quota_api);
  // `known` returns false while UsageDefinitions are read. Call it before Run().
  void SetDefinitionsKnown(std::function<bool()> known) { definitions_known_ = std::move(known); }
  // `on_refused` is called for every request that a quota refuses, or would refuse in mode Warn or
  // Audit.
  void SetRefusalListener(AdmissionObserver::OnRefused on_refused) {
    on_refused_ = std::move(on_refused);
  }
  // Binds the address. Call it after the last Enforce().
  base::Result<void> Listen(debug::Health& health);

  // Sets the listener of a server that uses the webhook's certificate. It gets the current
  // certificate at once, if there is one, and each new one. Call it after Listen().
  void SetCertificateListener(webhook::CertificateSource::Listener listener);

  base::Task<void> Run();
  // Answers current and new requests for `linger`, then closes; Run() then returns.
  void Stop(std::chrono::milliseconds linger);
  // While draining, API servers are told to connect again for the next review. REQUIRES: Listen()
  // has succeeded, and Stop() was not called.
  void Drain(bool drain) { server_->Drain(drain); }

  // If the daemon's own namespace `ns` is being deleted, deletes the webhook configuration, which
  // is cluster-scoped and would otherwise stay. Tries for some seconds; the log names the object if
  // it fails.
  base::Task<void> LeaveWith(std::string ns);

  // True if another installation manages the webhook configuration: then write nothing beside it.
  [[nodiscard]] bool IsSecond() const { return keeper_.IsAnothers(); }

  void OnStoredRules() override;

 private:
  [[nodiscard]] admission::QuotaAdmitterOptions AdmitterOptions() const;
  void NoteType(const quota::QuotaApi& api);
  // Null: the quota API is not enforced, or no controller is attached.
  [[nodiscard]] controllers::QuotaController* ControllerOf(const std::string& quota_api) const;
  AdmissionService(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                   client::ApiClient& client, metrics::Registry& registry, const Options& options,
                   const webhook::WebhookKeeperOptions& keeper);
  void OnRefusal(std::string_view quota_api, const admission::Refusal& refusal);
  base::Result<void> MakeCertificates(client::ApiClient& client);
  void WantRules(const std::string& quota_api);
  void TellExempt();
  void FollowWebhooks(base::Duration slowest);
  // Returns the namespaces for which the API server must call us: those with quotas, except exempt
  // ones.
  [[nodiscard]] webhook::Namespaces Limited(const controllers::LimitedNamespaces& namespaces) const;
  [[nodiscard]] webhook::Namespaces LimitedIn(const quota::LimitedPlaces::Counts& places) const;
  // True if the API server calls us for the resource in all namespaces of the quota, except exempt
  // ones.
  [[nodiscard]] bool IsGuarded(const std::string& quota_api, const api::GroupResource& resource,
                               const api::ObjectKey& quota) const;
  [[nodiscard]] http::ServerTls TlsWith(std::string cert_pem, std::string key_pem) const;
  bool ServeWith(const webhook::CertificateMaterial& material);
  // Errors: those of the API server.
  base::Task<base::Result<void>> TryToLeaveWith(std::string ns);
  base::Task<void> CloseAfter(std::chrono::milliseconds linger);
  [[nodiscard]] std::optional<debug::Failure> WhyNotReady() const;
  [[nodiscard]] std::optional<controllers::Unenforced> UnenforcedOf(
      const std::string& quota_api) const;

  base::asio::any_io_executor executor_;
  base::Scheduler& scheduler_;
  metrics::Registry& registry_;
  Options options_;
  client::ApiClient& client_;
  const std::string installation_;
  metrics::AdmissionMetrics metrics_;
  admission::RefusalReporter refusals_;
  std::map<std::string, client::ObjectReference, std::less<>> quota_types_;  // by quota API
  // The quota APIs whose quotas are parts, with those of the wholes.
  std::map<std::string, std::string, std::less<>> wholes_;
  AdmissionObserver::OnRefused on_refused_;  // may be null
  std::function<bool()> definitions_known_ = [] { return true; };
  AdmissionObserver observer_;
  webhook::ExemptNamespaces exempt_;
  webhook::WebhookKeeper keeper_;
  webhook::OtherWebhooks other_webhooks_;
  std::unique_ptr<webhook::CertificateSource> certificates_;
  webhook::CertificateSource::Listener certificate_listener_;
  std::unique_ptr<webhook::ClientAuthority> clients_;  // null: every client may call
  // The controllers of the enforced quota APIs; null: none is attached.
  std::map<std::string, controllers::QuotaController*> enforced_;
  admission::QuotaAdmitter admitter_;
  std::unique_ptr<http::Server> server_;
  base::TaskGroup tasks_;
  base::TaskGroup closing_;
};

}  // namespace manager
