#pragma once

// Keeps an http::Client's certificates equal to their files. Files are read again every five
// minutes, when a request is about to be sent, and sooner after a refusal. Only changes are passed
// on, because they close idle connections (client-go v0.36.3, transport/cert_rotation.go). Also
// takes an exec plugin's client certificate. Logs which certificates of a CA bundle are skipped,
// once for each bundle. One thread; the client must outlive it.

#include <cstdint>
#include <optional>
#include <string>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"
#include "pkg/base/reminder.h"
#include "pkg/client/cluster_config.h"
#include "pkg/http/client.h"

namespace client {

class TlsMaterial {
 public:
  TlsMaterial(http::Client& http, const ClusterConfig& config, base::TimePoint now);

  // Reads the files if they are due. If one is empty, ends within a PEM block, or cannot be read or
  // used, that is logged, and the old CA bundle is kept, or the old client certificate and its key.
  void Refresh(base::TimePoint now);
  // Counts the changes so far: tells whether what was refused is still in use.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // The server refused the material of that generation, or is not trusted by it. Reads the files
  // now, but not within ten seconds of the last time. Returns true if there is other material.
  bool Reject(std::uint64_t generation, base::TimePoint now);
  // Returns when the client certificate expired; nullopt if there is none or it has not.
  [[nodiscard]] std::optional<base::WallTime> ExpiredAt(base::WallTime now) const;
  // Errors: kInvalidArgument if they do not parse or do not match; the old ones are kept.
  base::Result<void> UseClientCertificate(std::string cert_pem, std::string key_pem);

 private:
  void Reread(base::TimePoint now);
  base::Result<void> RereadRoots();
  base::Result<void> RereadClientCertificate();
  base::Result<void> Apply(http::TlsOptions next);
  void WarnOfSkipped() const;

  http::Client& http_;
  http::TlsOptions current_;
  std::string source_;
  std::string ca_file_;
  std::string cert_file_;
  std::string key_file_;
  base::TimePoint read_;  // when the files were last read
  base::Reminder unreadable_;
  std::uint64_t generation_ = 0;
};

}  // namespace client
