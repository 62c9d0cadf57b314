#pragma once

// Keeps an http::Client's certificates as the files say: read again every five minutes when a
// request is about to be sent, and handed on only when something changed, because that ends idle
// connections (client-go v0.36.3, transport/cert_rotation.go). Also where an exec plugin's client
// certificate goes. One thread; the client outlives it.

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

  // Rereads what is due. What cannot be read or used is logged, and the old stays.
  void Refresh(base::TimePoint now);
  // Errors: kInvalidArgument when they do not parse or do not match; the old ones stay.
  base::Result<void> UseClientCertificate(std::string cert_pem, std::string key_pem);

 private:
  base::Result<void> Apply(http::TlsOptions next);

  http::Client& http_;
  http::TlsOptions current_;
  std::string ca_file_;
  std::string cert_file_;
  std::string key_file_;
  base::TimePoint due_;
};

}  // namespace client
