#pragma once

// A CA and a certificate in memory, for a local run: --admission-url without files. They exist from
// the start, are renewed as certificate_plan.h decides, and end with the process.

#include <memory>
#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/webhook/certificate_plan.h"
#include "pkg/webhook/certificate_source.h"

namespace webhook {

// `hosts`: the names and IP addresses by which the webhook is called. Errors: kInvalidArgument for
// a host that a certificate cannot contain.
base::Result<std::unique_ptr<CertificateSource>> NewMemoryCertificates(
    base::Scheduler& scheduler, std::vector<std::string> hosts, CertificatePolicy policy = {});

}  // namespace webhook
