#include "pkg/webhook/certificate_secret.h"

#include <glog/logging.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "pkg/api/object_meta.h"
#include "pkg/api/time.h"
#include "pkg/base/backoff.h"
#include "pkg/base/base64.h"
#include "pkg/base/unix_time.h"
#include "pkg/json/value.h"
#include "pkg/webhook/certificate_keyring.h"

namespace webhook {
namespace {

using base::Error;
using base::ErrorCode;

// The path of one Secret, or of a namespace's Secrets if the name is empty.
std::string PathOf(const api::ObjectKey& key) {
  return api::GroupVersionResource{"", "v1", "secrets"}.Path(key.ns, key.name);
}

constexpr std::chrono::seconds kRequestTimeout{10};
constexpr int kRaces = 4;  // conflicts in a row before the round fails

// The Date header (RFC 9110): "Sun, 06 Nov 1994 08:49:37 GMT". nullopt also for a year that a
// WallTime cannot hold.
std::optional<base::WallTime> ParseDate(std::string_view text) {
  constexpr int kLastYear = 2200;
  std::tm parts{};
  const std::string whole(text);
  const char* end = ::strptime(whole.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  if (parts.tm_year < 0 || parts.tm_year > kLastYear - 1900) return std::nullopt;
  return base::FromUnixTime(::timegm(&parts));
}

// The Secret as the API server stores it. If there is none, the version is "".
struct Stored {
  std::string version;
  bool ours = false;
  Keyring keyring;
  std::string trouble;  // which keys are not base64
};

std::string Decode(const json::Value& secret, std::string_view key, Stored& stored) {
  const std::string_view text = secret.StringAt({"data", key});
  auto decoded = base::DecodeBase64(text);
  if (decoded) return std::move(*decoded);
  stored.trouble += (stored.trouble.empty() ? "" : "; ") + std::string(key) + ": not base64";
  return {};
}

Stored Parse(const json::Value& secret) {
  Stored stored{.version = std::string(api::ResourceVersion(secret)), .ours = HasOurLabel(secret)};
  stored.keyring.ca_pem = Decode(secret, "ca.crt", stored);
  stored.keyring.ca_key_pem = Decode(secret, "ca.key", stored);
  stored.keyring.cert_pem = Decode(secret, "tls.crt", stored);
  stored.keyring.key_pem = Decode(secret, "tls.key", stored);
  return stored;
}

json::Value DataOf(const Keyring& keyring) {
  return json::Object{{"ca.crt", base::EncodeBase64(keyring.ca_pem)},
                      {"ca.key", base::EncodeBase64(keyring.ca_key_pem)},
                      {"tls.crt", base::EncodeBase64(keyring.cert_pem)},
                      {"tls.key", base::EncodeBase64(keyring.key_pem)}};
}

class SecretCertificates final : public CertificateSource {
 public:
  SecretCertificates(client::ApiClient& api, base::Scheduler& scheduler,
                     SecretCertificateOptions options)
      : CertificateSource(scheduler),
        api_(api),
        options_(std::move(options)),
        backoff_({.initial = std::chrono::seconds(1), .cap = options_.poll, .jitter = 0.5}) {}

  base::Task<void> Run() override {
    co_await base::DeferCancellation();
    const std::unique_ptr<base::Alarm> alarm = scheduler().NewAlarm();
    for (;;) {
      const base::Result<void> done = co_await Round();
      bool stopping = co_await base::Stopping();
      if (stopping) co_return;
      base::Duration wait = options_.poll;
      if (done) {
        backoff_.Reset();
      } else {
        SetTrouble(done.error().message);
        wait = backoff_.Next(scheduler().Now(), done.error().retry_after);
      }
      co_await alarm->WaitUntil(scheduler().Now() + wait);
      stopping = co_await base::Stopping();
      if (stopping) co_return;
    }
  }

 private:
  struct Write {
    std::string reason;  // for logs and errors
    Keyring keyring;
    CertificateStep step;  // kNone: it is restored
  };

  [[nodiscard]] std::string What() const { return "Secret " + options_.secret.ToString(); }

  // Reads the Secret, takes at most one step, and makes the resulting certificate current.
  base::Task<base::Result<void>> Round() {
    Error failed;
    for (int race = 0; race < kRaces; ++race) {
      const base::Result<Stored> stored = co_await Read();
      if (!stored) co_return stored.error();
      const KeyringReport report = Judge(*stored);
      Adopt(stored->keyring, report);
      if (!stored->version.empty() && !stored->ours) co_return LeaveAlone(report);
      const base::Result<std::optional<Write>> write = Decide(*stored, report);
      if (!write) co_return write.error();
      if (!*write) {
        SetTrouble(WhyRefused(report));
        co_return base::Result<void>();
      }
      const base::Result<void> written = co_await Store(stored->version, **write);
      if (written) {
        Announce(**write);
        co_return base::Result<void>();
      }
      failed = written.error().Wrap("write " + What() + ": " + (*write)->reason);
      // Another replica created, changed or deleted the Secret: decide again from its state.
      const bool raced = failed.Is(ErrorCode::kConflict) || failed.Is(ErrorCode::kAlreadyExists) ||
                         failed.Is(ErrorCode::kNotFound);
      if (!raced) break;
    }
    co_return failed;
  }

  base::Task<base::Result<Stored>> Read() {
    client::ApiRequest request{.path = PathOf(options_.secret), .timeout = kRequestTimeout};
    const base::Result<client::ApiResponse> answer = co_await api_.Do(std::move(request));
    if (!answer && answer.error().Is(ErrorCode::kNotFound)) {
      co_await AskClock();
      co_return Stored{};
    }
    if (!answer) co_return answer.error().Wrap("read " + What());
    TakeDate(*answer);
    const auto secret = json::Parse(answer->body);
    if (!secret) co_return secret.error().Wrap("read " + What());
    Stored stored = Parse(*secret);
    if (stored.version.empty()) {
      co_return Error{.code = ErrorCode::kMalformed,
                      .message = "read " + What() + ": an object without a resourceVersion"};
    }
    co_return stored;
  }

  void TakeDate(const client::ApiResponse& answer) {
    if (const auto date = ParseDate(answer.headers.Get("Date"))) SeeClock(*date);
  }

  // A refusal does not show its header, and the first certificate must be right for the server,
  // too.
  base::Task<void> AskClock() {
    client::ApiRequest request{.path = "/version", .timeout = kRequestTimeout};
    const base::Result<client::ApiResponse> answer = co_await api_.Do(std::move(request));
    if (answer) TakeDate(*answer);
  }

  KeyringReport Judge(const Stored& stored) {
    if (stored.keyring != judged_) {
      judged_ = stored.keyring;
      report_ = Inspect(judged_, options_.hosts);
    }
    KeyringReport report = report_;
    if (!stored.trouble.empty()) report.trouble = stored.trouble;
    return report;
  }

  // Makes the Secret's certificate current if API servers accept it now.
  void Adopt(const Keyring& keyring, const KeyringReport& report) {
    const auto& leaf = report.state.leaf;
    if (!leaf || !IsAccepted(*leaf, Clocks())) return;
    Offer({keyring.cert_pem, keyring.key_pem, keyring.ca_pem, leaf->not_after});
  }

  // An API server that we heard of refuses the certificate, because its clock is wrong, or all
  // others are. That is no reason to issue another one.
  [[nodiscard]] std::string WhyRefused(const KeyringReport& report) const {
    const auto& leaf = report.state.leaf;
    const ClockRange clocks = Clocks();
    if (leaf && leaf->not_before > clocks.earliest) {
      return "clocks differ: one takes the certificate, which is valid from " +
             api::FormatTime(leaf->not_before) + ", for not yet valid";
    }
    if (leaf && leaf->not_after <= clocks.latest) {
      return "clocks differ: one takes the certificate, which is valid until " +
             api::FormatTime(leaf->not_after) + ", for expired";
    }
    return "";
  }

  [[nodiscard]] base::Result<void> LeaveAlone(const KeyringReport& report) {
    std::string trouble = What() + " is not ours (no label " + std::string(kManagedByLabel) + "=" +
                          std::string(kManagedByUs) + ") and is left alone";
    if (report.state.leaf) {
      SetTrouble(trouble + "; it is used, but not renewed");
      return {};
    }
    trouble += "; it cannot be used";
    if (!report.trouble.empty()) trouble += " (" + report.trouble + ")";
    return Error{
        .code = ErrorCode::kInvalid,
        .message = trouble + ": label it, or replace it by the empty Secret of the installation"};
  }

  base::Result<std::optional<Write>> Decide(const Stored& stored, const KeyringReport& report) {
    const bool broken = !report.trouble.empty();
    const std::string about = broken ? " (" + report.trouble + ")" : "";
    // A restored keyring is one that API servers trust already; a new one would have to propagate.
    if ((broken || stored.keyring.empty()) && !memory_.empty()) {
      return std::optional(Write{"restored from memory" + about, memory_, {}});
    }
    if (!broken) memory_ = stored.keyring;
    const ClockRange clocks = Clocks();
    const CertificateStep step =
        PlanCertificates(report.state, clocks, BundleWasPublished(), options_.policy);
    if (step.action == CertificateAction::kNone) return std::optional<Write>();
    if (!MayIssue(step, options_.policy)) return HeldBack(step);
    auto made = CarryOut(step.action, stored.keyring, options_.hosts, clocks, options_.policy);
    if (!made) return made.error();
    std::string reason(ToString(step.action));
    reason.append(": ").append(step.reason).append(about);
    return std::optional(Write{std::move(reason), std::move(*made), step});
  }

  base::Task<base::Result<void>> Store(std::string version, Write write) {
    json::Value secret = json::Object{{"data", DataOf(write.keyring)}};
    client::ApiRequest request{.timeout = kRequestTimeout};
    if (version.empty()) {
      request.verb = "POST";
      request.path = PathOf({options_.secret.ns, ""});
      request.content_type = client::kJson;
      secret.Make({"apiVersion"}) = "v1";
      secret.Make({"kind"}) = "Secret";
      secret.Make({"type"}) = "kubernetes.io/tls";
      secret.Make({"metadata", "name"}) = options_.secret.name;
      secret.Make({"metadata", "namespace"}) = options_.secret.ns;
      secret.Make({"metadata", "labels", kManagedByLabel}) = kManagedByUs;
    } else {
      request.verb = "PATCH";
      request.path = PathOf(options_.secret);
      request.content_type = client::kMergePatch;
      secret.Make({"metadata", "resourceVersion"}) = version;
    }
    request.body = json::Write(secret);
    const base::Result<client::ApiResponse> answer = co_await api_.Do(std::move(request));
    if (!answer) co_return answer.error();
    TakeDate(*answer);
    co_return base::Result<void>();
  }

  void Announce(const Write& write) {
    if (write.step.action != CertificateAction::kNone) OnIssued(write.step);
    LOG(INFO) << "admission certificate: " << What() << " written: " << write.reason;
    SetTrouble("");
    memory_ = write.keyring;
    judged_ = write.keyring;
    report_ = Inspect(judged_, options_.hosts);
    Adopt(judged_, report_);
  }

  client::ApiClient& api_;
  SecretCertificateOptions options_;
  base::Backoff backoff_;
  Keyring memory_;  // the last complete one, to restore from
  Keyring judged_;  // report_ is about this one
  KeyringReport report_;
};

}  // namespace

SecretCertificateOptions SecretCertificatesOf(const ServiceReference& service) {
  return {.secret = {service.ns, service.name + "-certificate"}, .hosts = service.Hosts()};
}

std::unique_ptr<CertificateSource> NewSecretCertificates(client::ApiClient& api,
                                                         base::Scheduler& scheduler,
                                                         SecretCertificateOptions options) {
  return std::make_unique<SecretCertificates>(api, scheduler, std::move(options));
}

}  // namespace webhook
