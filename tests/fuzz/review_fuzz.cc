// An AdmissionReview: read the same however it is spaced and escaped. The answer to it is JSON with
// the decision.

#include "pkg/admission/answers.h"
#include "pkg/admission/review.h"

#include "tests/fuzz/evaluators.h"
#include "tests/fuzz/target.h"

namespace {

using admission::Answer;
using admission::Review;
using base::Result;

std::vector<std::string> ReviewFieldsOf(const api::GroupResource& resource) {
  for (const quota::QuotaApi& api : fuzz::QuotaApis()) {
    for (const quota::Evaluator& evaluator : api.evaluators) {
      if (evaluator.resource != resource) continue;
      std::vector<std::string> fields = evaluator.fields;
      fields.insert(fields.end(), evaluator.guard.fields.begin(), evaluator.guard.fields.end());
      return fields;
    }
  }
  return {};
}

std::string TextOf(const Review& review) {
  json::Object text;
  text.Set("uid", review.uid);
  text.Set("resource", review.resource.ToString());
  text.Set("subresource", review.subresource);
  text.Set("operation", static_cast<int>(review.operation));
  text.Set("ns", review.ns);
  text.Set("name", review.name);
  text.Set("dryRun", review.dry_run);
  text.Set("object", review.object);
  text.Set("oldObject", review.old_object);
  return json::Write(text);
}

void CheckSameReview(const Result<Review>& review, const Result<Review>& other, const char* what) {
  fuzz::Require(review.has_value() == other.has_value(), what);
  if (review) {
    fuzz::RequireSame(TextOf(*other), TextOf(*review), what);
  } else {
    fuzz::RequireSame(other.error().message, review.error().message, what);
  }
}

void CheckAnswer(const Review& review, const Answer& answer) {
  const auto body = json::Parse(admission::FormatAnswer(review, answer));
  fuzz::Require(body.has_value(), "an answer is JSON");
  fuzz::RequireSame(json::Quote(body->StringAt({"response", "uid"})), json::Quote(review.uid),
                    "the answer is to this call");
  const json::Value* const allowed = body->At({"response", "allowed"});
  const bool yes = answer.kind == Answer::Kind::kAllowed;
  fuzz::Require(allowed != nullptr && allowed->AsBool() == yes, "the answer is the answer");
  const std::string_view message = body->StringAt({"response", "status", "message"});
  fuzz::Require(yes || message.find("no") != std::string_view::npos, "a refusal says why");
}

FUZZ_TARGET(review) {
  static admission::ReviewParser parser;
  const Result<Review> review = admission::ReviewParser().Parse(input, ReviewFieldsOf);
  CheckSameReview(review, parser.Parse(input, ReviewFieldsOf), "one parser for many reviews");
  if (const auto document = json::Parse(input)) {
    CheckSameReview(review, admission::ReviewParser().Parse(json::Write(*document), ReviewFieldsOf),
                    "as it is written");
    CheckSameReview(review,
                    admission::ReviewParser().Parse(json::WritePretty(*document), ReviewFieldsOf),
                    "or indented");
  }
  if (!review) {
    const bool told = review.error().Is(base::ErrorCode::kMalformed) ||
                      review.error().Is(base::ErrorCode::kInvalidArgument);
    fuzz::Require(told, "no review is told as such");
    return;
  }
  fuzz::Require(!review->uid.empty() && !review->name.empty(), "what every review has");
  CheckAnswer(*review, {});
  CheckAnswer(*review, {.kind = Answer::Kind::kRefused,
                        .reason = "Forbidden",
                        .message = "no",
                        .warnings = {std::string(300, 'w'), review->name}});
}

}  // namespace
