#pragma once

// A CA and certificate made in memory, for a local run: --admission-url without files. There is one
// from the first moment; both are made anew as certificate_plan.h says, and end with the process.

#include <memory>
#include <string>
#include <vector>

#include "pkg/admission/certificate_plan.h"
#include "pkg/admission/certificate_source.h"
#include "pkg/base/error.h"

namespace admission {

// `hosts`: names and IP addresses the webhook is called by. Errors: kInvalidArgument for a host
// that no certificate can be for.
base::Result<std::unique_ptr<CertificateSource>> NewMemoryCertificates(
    base::Scheduler& scheduler, std::vector<std::string> hosts, CertificatePolicy policy = {});

}  // namespace admission
