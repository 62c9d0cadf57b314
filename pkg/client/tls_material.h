#pragma once

// Keeps an http::Client's certificates equal to their files. Files are read again every five
// minutes, when a request is about to be sent. Only changes are passed on, because they close idle
// connections (client-go v0.36.3, transport/cert_rotation.go). Also takes an exec plugin's client
// certificate. Logs which certificates of a CA bundle are skipped, once for each bundle. One
// thread; the client must outlive it.

#include <optional>
#include <string>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"
#include "pkg/http/client.h"

namespace client {

class TlsMaterial {
 public:
  TlsMaterial(http::Client& http, const ClusterConfig& config, base::TimePoint now);

  // Reads the files that are due. If one is empty, ends within a PEM block, or cannot be read or
  // used, that is logged and the old ones are kept.
  void Refresh(base::TimePoint now);
  // Returns when the client certificate expired; nullopt if there is none or it has not.
  [[nodiscard]] std::optional<base::WallTime> ExpiredAt(base::WallTime now) const;
  // Errors: kInvalidArgument if they do not parse or do not match; the old ones are kept.
  base::Result<void> UseClientCertificate(std::string cert_pem, std::string key_pem);

 private:
  base::Result<void> Apply(http::TlsOptions next);
  void WarnOfSkipped() const;

  http::Client& http_;
  http::TlsOptions current_;
  std::string source_;
  std::string ca_file_;
  std::string cert_file_;
  std::string key_file_;
  base::TimePoint due_;
};

}  // namespace client
