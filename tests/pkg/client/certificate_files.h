#pragma once

#include "pkg/client/cluster_config.h"
#include "tests/pkg/client/temp_folder.h"

namespace client {

// Has the cluster use the files "ca", "cert" and "key" of the folder, with "A", "C" and "K" in
// them.
inline void UseCertificateFiles(const TempFolder& folder, ClusterConfig& config) {
  config.ca_file = folder.Write("ca", "A");
  config.tls.ca_pem = "A";
  config.cert_file = folder.Write("cert", "C");
  config.tls.cert_pem = "C";
  config.key_file = folder.Write("key", "K");
  config.tls.key_pem = "K";
}

}  // namespace client
