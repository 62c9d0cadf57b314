#include "pkg/admission/answers.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace admission {
namespace {

namespace cause = quota::cause;

constexpr std::size_t kWarningCharacters = 256;  // the API server cuts longer ones

Answer Refuse(int code, std::string message, std::vector<api::StatusCause> causes) {
  return {.kind = Answer::Kind::kRefused,
          .code = code,
          .reason = code == 403 ? "Forbidden" : "InternalError",
          .message = std::move(message),
          .causes = std::move(causes)};
}

// "ResourceQuota/compute/requests.cpu": only a limit may contain slashes.
std::string FieldOf(const quota::QuotaApi& api, const quota::Refuser& refuser,
                    const std::string& limit) {
  std::string field = api.KnownKind() + "/" + refuser.name;
  if (!limit.empty()) field.append("/").append(limit);
  return field;
}

std::vector<api::StatusCause> CausesOf(const quota::QuotaApi& api, const quota::Verdict& verdict) {
  std::vector<api::StatusCause> causes;
  for (const quota::Cause& cause : verdict.causes) {
    api::StatusCause& told = causes.emplace_back();
    told.reason = cause.reason;
    told.message = cause.message;
    if (verdict.refuser) told.field = FieldOf(api, *verdict.refuser, cause.limit);
  }
  return causes;
}

// The first `limit` characters of `text`. Cuts between UTF-8 characters.
std::string_view FirstCharacters(std::string_view text, std::size_t limit) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool continues = (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    if (!continues && ++characters > limit) return text.substr(0, at);
  }
  return text;
}

api::Status RefusalStatus(const Review& review, const Answer& answer) {
  const api::GroupResource resource = review.resource.WithoutVersion();
  api::Status status = api::Forbidden(resource, review.name, answer.message);
  if (answer.code != status.code) {
    status.code = answer.code;
    status.message = answer.message;
    status.reason.clear();
  }
  if (!answer.reason.empty()) status.reason = answer.reason;
  status.details.causes = answer.causes;
  return status;
}

// Joins texts without repetition: "a,b".
class Joined {
 public:
  void Add(const std::string& text) {
    if (!seen_.insert(text).second) return;
    text_.append(text_.empty() ? "" : ",").append(text);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::set<std::string> seen_;
  std::string text_;
};

json::Object AnnotationsOf(const Answer& answer) {
  json::Object annotations;
  const auto set = [&](const char* name, const Joined& names) {
    if (!names.text().empty()) annotations.Set(name, names.text());
  };
  Joined refused;
  Joined exceeded;
  if (answer.refuser) {
    refused.Add(answer.refuser->name);
    for (const std::string& name : answer.refuser->exceeded) exceeded.Add(name);
  }
  Joined would_refuse;
  Joined would_exceed;
  for (const TriedQuota& tried : answer.would_refuse) {
    would_refuse.Add(tried.would.quota.name);
    for (const std::string& name : tried.would.quota.exceeded) would_exceed.Add(name);
  }
  set("refused-by-quota", refused);
  set("exceeded", exceeded);
  set("would-be-refused-by-quota", would_refuse);
  set("would-exceed", would_exceed);
  return annotations;
}

// In the order in which kubectl shows them.
json::Array WarningsOf(const Answer& answer) {
  json::Array warnings;
  const auto add = [&](const std::string& text) {
    warnings.emplace_back(FirstCharacters(text, kWarningCharacters));
  };
  for (const TriedQuota& tried : answer.would_refuse) {
    const bool warns = tried.would.mode == quota::ClusterSpec::Enforcement::kWarn;
    if (warns) add("would be refused: " + tried.would.message);
  }
  for (const std::string& warning : answer.warnings) add(warning);
  return warnings;
}

}  // namespace

Answer AlreadyExists(const Review& review) {
  return {.kind = Answer::Kind::kRefused,
          .code = 409,
          .reason = "AlreadyExists",
          .message = review.resource.WithoutVersion().ToString() + " \"" + review.name +
                     "\" already exists",
          .causes = {{.reason = std::string(cause::kAlreadyExists)}}};
}

Answer Refuse(int code, std::string message, std::string_view reason) {
  std::vector<api::StatusCause> causes{{.reason = std::string(reason), .message = message}};
  return Refuse(code, std::move(message), std::move(causes));
}

Answer Unavailable(std::string message) {
  return {
      .kind = Answer::Kind::kUnavailable, .code = 503, .reason = "", .message = std::move(message)};
}

Answer Failed(const base::Error& error) { return Refuse(500, error.message, cause::kNotReserved); }

Answer AnswerOf(const quota::QuotaApi& api, const quota::Verdict& verdict,
                std::vector<std::string> warnings) {
  if (verdict.kind == quota::Verdict::Kind::kRefused) {
    if (verdict.code == 503) return Unavailable(verdict.message);
    Answer refusal = Refuse(verdict.code, verdict.message, CausesOf(api, verdict));
    if (verdict.code == 403) refusal.reason = api.refusal_reason;
    refusal.refuser = verdict.refuser;
    refusal.quota_api = api.name;
    refusal.refused_by_cluster_quota = api.form.cluster;
    return refusal;
  }
  Answer answer;
  for (const quota::WouldRefuse& would : verdict.would_refuse) {
    answer.would_refuse.push_back({api.name, would});
  }
  for (std::string& warning : warnings) {
    answer.warnings.push_back("quota nearly used up: " + std::move(warning));
  }
  return answer;
}

void AddTo(Answer& all, Answer one) {
  std::ranges::move(one.warnings, std::back_inserter(all.warnings));
  std::ranges::move(one.would_refuse, std::back_inserter(all.would_refuse));
}

std::string RefusalMessage(const Review& review, const Answer& answer) {
  return RefusalStatus(review, answer).message;
}

std::string WouldRefuseMessage(const Review& review, const TriedQuota& tried) {
  return review.resource.WithoutVersion().ToString() + " " + json::Quote(review.name) +
         " would be forbidden: " + tried.would.message;
}

std::string FormatAnswer(const Review& review, const Answer& answer) {
  const bool allowed = answer.kind == Answer::Kind::kAllowed;
  std::string body = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)";
  body.append(R"("response":{"uid":)").append(json::Quote(review.uid));
  body.append(R"(,"allowed":)").append(allowed ? "true" : "false");
  if (!allowed) {
    body.append(R"(,"status":)").append(json::Write(RefusalStatus(review, answer).ToJson()));
  }
  if ((!allowed && answer.refuser) || !answer.would_refuse.empty()) {
    body.append(R"(,"auditAnnotations":)").append(json::Write(AnnotationsOf(answer)));
  }
  if (!answer.warnings.empty() || !answer.would_refuse.empty()) {
    json::Array warnings = WarningsOf(answer);
    if (!warnings.empty()) body.append(R"(,"warnings":)").append(json::Write(std::move(warnings)));
  }
  return body += "}}";
}

}  // namespace admission
