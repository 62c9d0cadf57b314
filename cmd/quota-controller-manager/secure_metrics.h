#pragma once

// Protects /metrics outside of loopback: TLS, and the API server's decision about each reader. The
// certificate is the webhook's if there is one, else one that is made here and rotated. Nobody
// needs to trust that one: scrapers of such a target do not verify it.
//
// Single-threaded. Constructor arguments must outlive it; Run() must have returned before it is
// destroyed.

#include <memory>
#include <string>

#include "cmd/quota-controller-manager/admission_service.h"
#include "pkg/client/access_reviewer.h"
#include "pkg/debug/endpoints.h"
#include "pkg/http/server.h"
#include "pkg/webhook/certificate_source.h"

namespace manager {

class SecureMetrics {
 public:
  // `admission` is null if nothing is enforced; `host` is this machine's name. Errors: the
  // certificate cannot be made.
  static base::Result<std::unique_ptr<SecureMetrics>> New(base::Scheduler& scheduler,
                                                          client::ApiClient& client,
                                                          AdmissionService* admission,
                                                          const std::string& host);

  // The first certificate; Follow() gives the server later ones.
  [[nodiscard]] http::ServerTls tls() const;
  [[nodiscard]] debug::Guard guard();
  void Follow(http::Server& server);
  base::Task<void> Run();

 private:
  SecureMetrics(base::Scheduler& scheduler, client::ApiClient& client, AdmissionService* admission)
      : admission_(admission), reviewer_(client, scheduler) {}

  AdmissionService* admission_;
  client::AccessReviewer reviewer_;
  std::unique_ptr<webhook::CertificateSource> own_;  // null: the webhook's certificate is used
  http::CertificatePair first_;
};

}  // namespace manager
