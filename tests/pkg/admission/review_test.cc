#include "pkg/admission/review.h"

#include <catch2/catch.hpp>

namespace {

const admission::FieldsOf kNoFields = [](const api::GroupResource&) {
  return std::vector<std::string>();
};

TEST_CASE("review: what is no JSON is no review", "[admission]") {
  const auto review = admission::ParseReview("no JSON", kNoFields);
  REQUIRE_FALSE(review.has_value());
  CHECK(review.error().Is(base::ErrorCode::kMalformed));
}

}  // namespace
