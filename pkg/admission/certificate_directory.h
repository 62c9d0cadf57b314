#pragma once

// A certificate of the admin's own, in a folder: tls.crt, tls.key, and ca.crt where the daemon is
// to publish the CA (without it the bundle is empty, and somebody else keeps it). All three are
// read every ten seconds, whoever changes them and however (rename, symlink, writing in place).
//
// What cannot be used (half-written, not one pair, a chain that ca.crt does not accept, another
// host, expired) changes nothing and is said once, by the name of its file.

#include <memory>
#include <string>

#include "pkg/admission/certificate_source.h"

namespace admission {

// Reads at once: current() tells whether there is a certificate, Ready() why there is none. `host`
// is the name or address that API servers verify.
std::unique_ptr<CertificateSource> NewDirectoryCertificates(base::Scheduler& scheduler,
                                                            const std::string& directory,
                                                            std::string host);

}  // namespace admission
