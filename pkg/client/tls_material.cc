#include "pkg/client/tls_material.h"

#include <glog/logging.h>

#include "pkg/client/files.h"
#include "pkg/json/value.h"

namespace client {
namespace {

constexpr std::chrono::minutes kRereadKeys{5};

bool SameMaterial(const http::TlsOptions& a, const http::TlsOptions& b) {
  return a.ca_pem == b.ca_pem && a.cert_pem == b.cert_pem && a.key_pem == b.key_pem;
}

base::Result<void> Reread(const std::string& path, std::string& into) {
  if (path.empty()) return {};
  base::Result<std::string> content = ReadFile(path);
  if (!content) return content.error();
  // It may be in the middle of being written. Without a CA, all the system's roots are trusted.
  if (Trim(*content).empty()) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument, .message = path + " is empty"};
  }
  into = std::move(*content);
  return {};
}

}  // namespace

TlsMaterial::TlsMaterial(http::Client& http, const ClusterConfig& config, base::TimePoint now)
    : http_(http),
      current_(config.tls),
      ca_file_(config.ca_file),
      cert_file_(config.cert_file),
      key_file_(config.key_file),
      due_(now + kRereadKeys) {}

void TlsMaterial::Refresh(base::TimePoint now) {
  if (now < due_) return;
  // Set before reading, so that an unreadable file is not read again for every request.
  due_ = now + kRereadKeys;
  http::TlsOptions next = current_;
  base::Result<void> done = Reread(ca_file_, next.ca_pem);
  if (done) done = Reread(cert_file_, next.cert_pem);
  if (done) done = Reread(key_file_, next.key_pem);
  if (done) done = Apply(std::move(next));
  if (done) return;
  LOG(WARNING) << "keeping the last certificates error=" << json::Quote(done.error().message);
}

base::Result<void> TlsMaterial::UseClientCertificate(std::string cert_pem, std::string key_pem) {
  http::TlsOptions next = current_;
  next.cert_pem = std::move(cert_pem);
  next.key_pem = std::move(key_pem);
  return Apply(std::move(next));
}

base::Result<void> TlsMaterial::Apply(http::TlsOptions next) {
  if (SameMaterial(next, current_)) return {};
  base::Result<void> applied = http_.SetTls(next);
  if (!applied) return applied;
  LOG(INFO) << "certificates changed, reconnecting";
  // Old connections still use the old certificate.
  http_.CloseIdle();
  current_ = std::move(next);
  return {};
}

}  // namespace client
