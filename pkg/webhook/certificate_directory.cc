#include "pkg/webhook/certificate_directory.h"

#include <optional>

#include "pkg/api/time.h"
#include "pkg/client/files.h"
#include "pkg/http/certificate.h"

namespace webhook {
namespace {

constexpr std::chrono::seconds kReread{10};

struct Files {
  std::string cert;
  std::string key;
  std::string ca;  // "" also if there is no file
  bool operator==(const Files&) const = default;
};

class DirectoryCertificates final : public CertificateSource {
 public:
  DirectoryCertificates(base::Scheduler& scheduler, const std::string& directory, std::string host)
      : CertificateSource(scheduler),
        cert_path_(directory + "/tls.crt"),
        key_path_(directory + "/tls.key"),
        ca_path_(directory + "/ca.crt"),
        host_(std::move(host)) {}

  void Look() {
    base::Result<Files> files = Read();
    // Somebody may have replaced the files between two reads: read once more.
    if (files && !Judge(*files)) files = Read();
    if (!files) return SetTrouble(files.error().message);
    auto material = Judge(*files);
    if (!material) return SetTrouble(material.error().message);
    SetTrouble("");
    Offer(std::move(*material));
  }

  base::Task<void> Run() override {
    co_await base::DeferCancellation();
    const std::unique_ptr<base::Alarm> alarm = scheduler().NewAlarm();
    for (;;) {
      Look();
      co_await alarm->WaitUntil(scheduler().Now() + kReread);
      const bool stopping = co_await base::Stopping();
      if (stopping) co_return;
    }
  }

 private:
  [[nodiscard]] base::Result<Files> Read() const {
    auto cert = client::ReadFile(cert_path_);
    if (!cert) return cert.error();
    auto key = client::ReadFile(key_path_);
    if (!key) return key.error();
    auto ca = client::ReadFile(ca_path_);
    if (!ca && !ca.error().Is(base::ErrorCode::kNotFound)) return ca.error();
    Files files{std::move(*cert), std::move(*key), ca ? std::move(*ca) : ""};
    if (client::Trim(files.ca).empty()) files.ca.clear();
    return files;
  }

  // The checks ignore dates, so expiry is checked at the end, with an error text of its own.
  [[nodiscard]] base::Result<CertificateMaterial> Judge(const Files& files) const {
    const auto read = http::ReadCertificates(files.cert, cert_path_);
    if (!read) return read.error();
    if (const auto pair = http::CheckKey(files.cert, files.key); !pair) {
      return pair.error().Wrap(cert_path_ + " and " + key_path_);
    }
    // Without ca.crt only the host name can be checked, so each certificate is its own root.
    const std::string& roots = files.ca.empty() ? files.cert : files.ca;
    const auto accepted = http::CheckServer(files.cert, roots, {.host = host_, .at = {}});
    if (!accepted) {
      return accepted.error().Wrap(files.ca.empty() ? cert_path_ : cert_path_ + " by " + ca_path_);
    }
    const base::WallTime now = Clocks().latest;
    const CertificateMaterial* const served = current();
    const bool is_new = served != nullptr && served->cert_pem != files.cert;
    // Others do not accept it yet.
    if (is_new && read->front().not_before > now && served->not_after > now) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = cert_path_ + ": the certificate is valid only from " +
                                    api::FormatTime(read->front().not_before)};
    }
    if (read->front().not_after <= now) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = cert_path_ + ": the certificate has expired at " +
                                    api::FormatTime(read->front().not_after)};
    }
    return CertificateMaterial{files.cert, files.key, files.ca, read->front().not_after};
  }

  std::string cert_path_;
  std::string key_path_;
  std::string ca_path_;
  std::string host_;
};

}  // namespace

std::unique_ptr<CertificateSource> NewDirectoryCertificates(base::Scheduler& scheduler,
                                                            const std::string& directory,
                                                            std::string host) {
  auto source = std::make_unique<DirectoryCertificates>(scheduler, directory, std::move(host));
  source->Look();
  return source;
}

}  // namespace webhook
