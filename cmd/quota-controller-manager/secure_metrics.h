#pragma once

// What protects /metrics off loopback: TLS, and the API server's judgement of whoever reads. The
// certificate is the webhook's where there is one, else one made here and rotated, which nobody
// need trust: scrapers of such a target do not verify.
//
// Single-threaded. What it is given outlives it; Run() must have returned before it is destroyed.

#include <memory>
#include <string>

#include "cmd/quota-controller-manager/admission_service.h"
#include "pkg/admission/certificate_source.h"
#include "pkg/client/access_reviewer.h"
#include "pkg/debug/endpoints.h"
#include "pkg/http/server.h"

namespace manager {

class SecureMetrics {
 public:
  // `admission` is null where nothing is enforced; `host` is this machine's name. Errors: a
  // certificate that cannot be made.
  static base::Result<std::unique_ptr<SecureMetrics>> New(base::Scheduler& scheduler,
                                                          client::ApiClient& client,
                                                          AdmissionService* admission,
                                                          const std::string& host);

  // To begin with; Follow() gives the server what comes after it.
  [[nodiscard]] http::ServerTls tls() const;
  [[nodiscard]] debug::Guard guard();
  void Follow(http::Server& server);
  base::Task<void> Run();

 private:
  SecureMetrics(base::Scheduler& scheduler, client::ApiClient& client, AdmissionService* admission)
      : admission_(admission), reviewer_(client, scheduler) {}

  AdmissionService* admission_;
  client::AccessReviewer reviewer_;
  std::unique_ptr<admission::CertificateSource> own_;  // null: the webhook's are served
  http::CertificatePair first_;
};

}  // namespace manager
