#include "pkg/admission/answers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace admission {
namespace {

namespace cause = quota::cause;

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

}  // namespace admission
