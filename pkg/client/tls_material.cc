#include "pkg/client/tls_material.h"

#include <glog/logging.h>

#include "pkg/client/files.h"
#include "pkg/http/certificate.h"
#include "pkg/json/value.h"

namespace client {
namespace {

constexpr std::chrono::minutes kRereadKeys{5};
constexpr std::chrono::seconds kRereadRefused{10};

bool SameMaterial(const http::TlsOptions& a, const http::TlsOptions& b) {
  return a.ca_pem == b.ca_pem && a.cert_pem == b.cert_pem && a.key_pem == b.key_pem;
}

bool EndsWithinBlock(const std::string& pem) {
  const std::size_t begin = pem.rfind("-----BEGIN ");
  return begin != std::string::npos && pem.find("-----END ", begin) == std::string::npos;
}

// Refuses a file that looks half written. Without a CA, all the system's roots are trusted; with
// half of a bundle, a server may not be trusted any more.
base::Result<void> ReadInto(const std::string& path, std::string& into) {
  if (path.empty()) return {};
  base::Result<std::string> content = ReadFile(path);
  if (!content) return content.error();
  if (*content == into) return {};
  const bool empty = Trim(*content).empty();
  if (empty || EndsWithinBlock(*content)) {
    return base::Error{.code = base::ErrorCode::kInvalidArgument,
                       .message = path + (empty ? " is empty" : " ends within a PEM block")};
  }
  into = std::move(*content);
  return {};
}

}  // namespace

TlsMaterial::TlsMaterial(http::Client& http, const ClusterConfig& config, base::TimePoint now)
    : http_(http),
      current_(config.tls),
      source_(config.Describe()),
      ca_file_(config.ca_file),
      cert_file_(config.cert_file),
      key_file_(config.key_file),
      read_(now) {
  WarnOfSkipped();
}

void TlsMaterial::Refresh(base::TimePoint now) {
  if (now - read_ >= kRereadKeys) Reread(now);
}

bool TlsMaterial::Reject(std::uint64_t generation, base::TimePoint now) {
  if (generation == generation_ && now - read_ >= kRereadRefused) Reread(now);
  return generation != generation_;
}

void TlsMaterial::Reread(base::TimePoint now) {
  // Also after a failure, so that an unreadable file is not read again for every request.
  read_ = now;
  // Each by itself: a broken bundle must not keep an old client certificate in use.
  bool all = true;
  for (const base::Result<void>& done : {RereadRoots(), RereadClientCertificate()}) {
    if (done) continue;
    all = false;
    LOG_IF(WARNING, unreadable_.Meet(done.error().message, now))
        << "keeping the last certificates error=" << json::Quote(done.error().message);
  }
  if (all) unreadable_.Solve();
}

base::Result<void> TlsMaterial::RereadRoots() {
  http::TlsOptions next = current_;
  base::Result<void> done = ReadInto(ca_file_, next.ca_pem);
  if (done) done = Apply(std::move(next));
  return done;
}

base::Result<void> TlsMaterial::RereadClientCertificate() {
  http::TlsOptions next = current_;
  base::Result<void> done = ReadInto(cert_file_, next.cert_pem);
  if (done) done = ReadInto(key_file_, next.key_pem);
  if (done) done = Apply(std::move(next));
  return done;
}

base::Result<void> TlsMaterial::UseClientCertificate(std::string cert_pem, std::string key_pem) {
  http::TlsOptions next = current_;
  next.cert_pem = std::move(cert_pem);
  next.key_pem = std::move(key_pem);
  return Apply(std::move(next));
}

std::optional<base::WallTime> TlsMaterial::ExpiredAt(base::WallTime now) const {
  if (current_.cert_pem.empty()) return std::nullopt;
  const auto chain = http::ReadCertificates(current_.cert_pem, "client certificate");
  if (!chain || now < chain->front().not_after) return std::nullopt;
  return chain->front().not_after;
}

base::Result<void> TlsMaterial::Apply(http::TlsOptions next) {
  if (SameMaterial(next, current_)) return {};
  base::Result<void> applied = http_.SetTls(next);
  if (!applied) return applied;
  LOG(INFO) << "certificates changed, reconnecting";
  // Old connections still use the old certificate.
  http_.CloseIdle();
  const bool new_roots = next.ca_pem != current_.ca_pem;
  current_ = std::move(next);
  ++generation_;
  if (new_roots) WarnOfSkipped();
  return {};
}

void TlsMaterial::WarnOfSkipped() const {
  for (const std::string& skipped : http::UnreadableRoots(current_.ca_pem)) {
    LOG(WARNING) << "skipping an unreadable certificate of the CA bundle cluster="
                 << json::Quote(source_) << " error=" << json::Quote(skipped);
  }
}

}  // namespace client
