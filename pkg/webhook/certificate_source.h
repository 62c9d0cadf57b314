#pragma once

// The source of the webhook's certificate: issued in memory (certificate_memory.h), read from a
// folder (certificate_directory.h), or shared by all replicas through a Secret
// (certificate_secret.h).
//
// Certificate and key always match, and the bundle, if there is one, accepts the chain. If the
// source finds something unusable, it keeps the last usable certificate, logs this once, and
// continues to look. The bundle changes before the certificate does:
//
//   source.SetListener([&](const webhook::CertificateMaterial& material) {
//     server.SetTls({material.cert_pem, material.key_pem});    // new connections
//     webhooks.SetCaBundle(material.ca_bundle_pem);            // what API servers trust
//   });
//   source.SetPublished([&](const std::string& ca_bundle_pem) {
//     return webhooks.stored_ca_bundle() == ca_bundle_pem;     // the API server has it
//   });
//   tasks.Spawn("certificates", [&] { return source.Run(); });
//
// Single-threaded. The scheduler, and what the callbacks refer to, outlive the source.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/base/reminder.h"
#include "pkg/base/scheduler.h"
#include "pkg/webhook/certificate_plan.h"
#include "pkg/webhook/seen_clocks.h"

namespace webhook {

struct CertificateMaterial {
  std::string cert_pem;  // with intermediates, if any
  std::string key_pem;
  std::string ca_bundle_pem;  // "": somebody else maintains it
  base::WallTime not_after;   // of the certificate
};

class CertificateSource {
 public:
  using Listener = std::function<void(const CertificateMaterial&)>;
  using Published = std::function<bool(const std::string& ca_bundle_pem)>;

  explicit CertificateSource(base::Scheduler& scheduler) : scheduler_(scheduler) {}
  virtual ~CertificateSource() = default;
  CertificateSource(const CertificateSource&) = delete;
  CertificateSource& operator=(const CertificateSource&) = delete;

  // Maintains the certificate until cancelled.
  virtual base::Task<void> Run() = 0;

  // nullptr if there is none yet.
  [[nodiscard]] const CertificateMaterial* current() const {
    return current_ ? &*current_ : nullptr;
  }
  // The listener is called with each new material, and at once if there is one already.
  void SetListener(Listener listener);
  // `published` returns whether all callers of the webhook trust this bundle. A new CA signs the
  // leaf when this was true for two minutes. Without the callback only the time counts
  // (CertificatePolicy::publish_for).
  void SetPublished(Published published) { published_ = std::move(published); }
  // False if there is no certificate or it has expired by all clocks; then `why` says which.
  bool Ready(std::string* why) const;
  // What an operator should look at, although the certificate may still be good; "" if nothing.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // When the certificate expires, for the metric; nullopt if there is none.
  [[nodiscard]] std::optional<base::WallTime> not_after() const;

 protected:
  // Makes the material current and calls the listener, unless it is current already.
  void Offer(CertificateMaterial material);
  // Logs the trouble once. Ready() repeats it while there is no certificate. "" ends it.
  void SetTrouble(const std::string& trouble);
  // See SetPublished(). Call it regularly: it measures the two minutes.
  [[nodiscard]] bool BundleWasPublished();
  // The times with which the dates of certificates are compared.
  [[nodiscard]] ClockRange Clocks() const {
    return clocks_.At(scheduler_.Now(), scheduler_.WallNow());
  }
  // An API server said that it is now so late.
  void SeeClock(base::WallTime servers);
  // False if something was issued for the same reason within an hour, and there is a certificate to
  // serve: issuing again would not help, and API servers would have to follow.
  [[nodiscard]] bool MayIssue(const CertificateStep& step, const CertificatePolicy& policy) const;
  // The error to report then.
  [[nodiscard]] base::Error HeldBack(const CertificateStep& step) const;
  void OnIssued(const CertificateStep& step) { issued_[step.reason] = scheduler_.Now(); }
  [[nodiscard]] base::Scheduler& scheduler() const { return scheduler_; }

 private:
  base::Scheduler& scheduler_;
  std::optional<CertificateMaterial> current_;
  Listener listener_;
  Published published_;
  std::optional<base::TimePoint> published_since_;
  std::string trouble_;
  base::Reminder told_;  // of that
  SeenClocks clocks_;
  std::optional<base::TimePoint> said_clocks_;          // when a difference was logged last
  std::map<std::string_view, base::TimePoint> issued_;  // by reason, of which there are a few
};

}  // namespace webhook
