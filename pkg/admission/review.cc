#include "pkg/admission/review.h"

#include <array>
#include <optional>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/status.h"
#include "pkg/json/projection.h"

namespace admission {
namespace {

using base::ErrorCode;
using json::Value;

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kKind = "AdmissionReview";
constexpr std::size_t kWarningCharacters = 256;  // what is longer the API server cuts itself

constexpr std::array<std::pair<std::string_view, Operation>, 4> kOperations{{
    {"CREATE", Operation::kCreate},
    {"UPDATE", Operation::kUpdate},
    {"DELETE", Operation::kDelete},
    {"CONNECT", Operation::kConnect},
}};

base::Error Malformed(std::string message) {
  return {.code = ErrorCode::kMalformed, .message = std::move(message)};
}

const json::Projection& EnvelopeFields() {
  static const json::Projection fields({"apiVersion", "kind", "request.uid", "request.resource",
                                        "request.subResource", "request.operation",
                                        "request.namespace", "request.name", "request.dryRun"});
  return fields;
}

}  // namespace

base::Result<Review> ParseReview(std::string_view, const FieldsOf&) {
  (void)EnvelopeFields();
  (void)kApiVersion; (void)kKind; (void)kOperations; (void)kWarningCharacters;
  return Malformed("not an AdmissionReview");
}

std::string FormatAnswer(const Review&, const Answer&) { return {}; }

}  // namespace admission
