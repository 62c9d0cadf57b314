#pragma once

// A certificate that the admin provides in a folder: tls.crt, tls.key and, if the daemon is to
// publish the CA, ca.crt. Without ca.crt the bundle is empty, and somebody else maintains it. The
// files are read every ten seconds, so any way of changing them is noticed (rename, symlink,
// writing in place).
//
// An unusable pair changes nothing and is logged once, with the name of the file. Unusable means:
// half-written, key and certificate do not match, ca.crt does not accept the chain, wrong host,
// expired.

#include <memory>
#include <string>

#include "pkg/webhook/certificate_source.h"

namespace webhook {

// Reads the folder at once: then current() returns the certificate, or Ready() says why there is
// none. `host` is the name or address that API servers verify.
std::unique_ptr<CertificateSource> NewDirectoryCertificates(base::Scheduler& scheduler,
                                                            const std::string& directory,
                                                            std::string host);

}  // namespace webhook
