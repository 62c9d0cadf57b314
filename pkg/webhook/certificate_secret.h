#pragma once

// A CA and a certificate that all replicas share through one Secret (ca.crt, ca.key, tls.crt,
// tls.key). Each replica reads it with a GET every half minute. The first replica that finds a step
// due (certificate_plan.h) writes it, with a resourceVersion. A replica that gets a conflict reads
// the Secret again. Dates are compared with our clock and with those of the API servers that
// answered (seen_clocks.h).
//
// A Secret without our label is never written. It is used if it is valid; otherwise the error says
// what to do. If our Secret was deleted or damaged, it is restored from memory, or else issued
// again. An admin retires a CA by removing ca.key from the Secret: the next CA is published, then
// used.
//
// Rights: get and patch on this one Secret, create on Secrets in its namespace.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/client/api_client.h"
#include "pkg/webhook/certificate_plan.h"
#include "pkg/webhook/certificate_source.h"
#include "pkg/webhook/endpoint.h"
#include "pkg/webhook/ownership.h"

namespace webhook {

struct SecretCertificateOptions {
  api::ObjectKey secret;
  std::vector<std::string> hosts;
  CertificatePolicy policy;
  std::chrono::seconds poll{30};
};

// The Secret "<service>-certificate" beside the service, for the service's names.
SecretCertificateOptions SecretCertificatesOf(const ServiceReference& service);

// `api` outlives the source.
std::unique_ptr<CertificateSource> NewSecretCertificates(client::ApiClient& api,
                                                         base::Scheduler& scheduler,
                                                         SecretCertificateOptions options);

}  // namespace webhook
