#pragma once

// Where the webhook's certificate comes from, and what everybody is told of it: made in memory
// (certificate_memory.h), read from a folder (certificate_directory.h), or shared by all replicas
// through a Secret (certificate_secret.h).
//
// Promises: what is handed out is one pair, and its chain is accepted by the bundle where there is
// one; a source that finds something worse than what it has keeps what it has, says so once, and
// goes on looking. The bundle and the certificate change at different times, the bundle first:
//
//   source.SetListener([&](const admission::CertificateMaterial& material) {
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
#include <optional>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/base/scheduler.h"

namespace admission {

struct CertificateMaterial {
  std::string cert_pem;  // with intermediates, if any
  std::string key_pem;
  std::string ca_bundle_pem;  // "": not ours to say
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

  // Looks after the certificate until cancelled.
  virtual base::Task<void> Run() = 0;

  // nullptr before there is any.
  [[nodiscard]] const CertificateMaterial* current() const {
    return current_ ? &*current_ : nullptr;
  }
  // Called with each new material, and at once if there is some already.
  void SetListener(Listener listener);
  // Whether all who call the webhook have been told of this bundle. A new CA is relied on when this
  // was true for two minutes; without it, time alone is waited for.
  void SetPublished(Published published) { published_ = std::move(published); }
  // False without a certificate, or with one that has ended; `why` says so.
  bool Ready(std::string* why) const;
  // When the certificate ends, for the metric; nullopt without one.
  [[nodiscard]] std::optional<base::WallTime> not_after() const;

 protected:
  // Hands it out, unless it is what is handed out already.
  void Offer(CertificateMaterial material);
  // Says it once, and Ready() says it while there is no certificate. "" when all is well.
  void SetTrouble(const std::string& trouble);
  // See SetPublished(). To be asked regularly, for it counts the two minutes.
  [[nodiscard]] bool BundleWasPublished();
  // The time by which certificates are judged.
  [[nodiscard]] base::WallTime WallNow() const { return scheduler_.WallNow() + clock_offset_; }
  void SetClockOffset(base::WallTime::duration offset) { clock_offset_ = offset; }
  [[nodiscard]] base::Scheduler& scheduler() const { return scheduler_; }

 private:
  base::Scheduler& scheduler_;
  std::optional<CertificateMaterial> current_;
  Listener listener_;
  Published published_;
  std::optional<base::TimePoint> published_since_;
  std::string trouble_;
  base::WallTime::duration clock_offset_{};
};

}  // namespace admission
