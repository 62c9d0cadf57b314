#pragma once

// A CA and certificate that all replicas share through one Secret (ca.crt, ca.key, tls.crt,
// tls.key), read and written through the API: one GET every half minute, and a write guarded by
// resourceVersion by whichever replica first finds a step due (certificate_plan.h); who loses the
// race reads again. Dates are judged by the API server's clock, which all replicas see alike.
//
// A Secret without our label is never written: used if it can be, else refused with a clear word.
// One of ours that was deleted or garbled is put back from memory; without memory it is made anew.
// A CA is retired at will by taking ca.key out of the Secret: the next is published, then used.
//
// Rights: get and patch on this one Secret, create in its namespace.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "pkg/admission/certificate_plan.h"
#include "pkg/admission/certificate_source.h"
#include "pkg/admission/endpoint.h"
#include "pkg/admission/ownership.h"
#include "pkg/api/resource.h"
#include "pkg/client/api_client.h"

namespace admission {

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

}  // namespace admission
