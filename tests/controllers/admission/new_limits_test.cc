// A limit whose first status is being written: the server may show it before we have an answer.

#include "tests/controllers/admission/admitter_fixture.h"

namespace new_limits_test {
namespace {

using namespace fixture;
using namespace std::chrono_literals;
using Kind = admission::Answer::Kind;

// The server has stored the first status of a quota, and neither answer nor event tells us.
class Written : public AdmitterFixture {
 public:
  explicit Written(const std::string& things) {
    cluster.patch_delay = 100ms;
    cluster.patch_answer_delay = 1s;
    cluster.Put(kQuotas, MakeQuota("q", {{"things", things}}));
    RunFor(50ms);
    cluster.Hold(kQuotas);
    for (int i = 0; i < 100 && Hard("q").empty(); ++i) RunFor(10ms);
    REQUIRE(Hard("q") == "things=" + things);
    REQUIRE(controller->store().Find({"team-a", "q"})->status.hard.empty());
  }
};

TEST_CASE("quota admitter: a limit that the server shows is in force before its write is answered",
          "[admission]") {
  SECTION("what does not fit is refused") {
    Written f("0");
    f.Ask(Create("a"));
    f.RunFor(100ms);
    REQUIRE(f.answers.back().has_value());
    CHECK(f.answers.back()->kind == Kind::kRefused);
    CHECK(f.answers.back()->message ==
          "exceeded quota: q, requested: things=1, used: things=0, limited: things=0");
  }
  SECTION("what fits is charged once the write is answered") {
    Written f("1");
    f.Ask(Create("a"));
    f.Ask(Create("b"));
    f.RunFor(100ms);
    CHECK(f.Count(Kind::kAllowed) == 0);
    f.cluster.patch_answer_delay = {};
    f.RunFor(3s);
    CHECK(f.Count(Kind::kAllowed) == 1);
    CHECK(f.Count(Kind::kRefused) == 1);
    CHECK(f.Used("q") == "things=1");
  }
}

TEST_CASE("quota admitter: a limit whose write fails is not in force", "[admission]") {
  AdmitterFixture f;
  f.cluster.patch_delay = 1s;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"things", "5"}}));
  f.RunFor(500ms);
  f.Ask(Create("a"));
  f.FailWrites("q", {.code = base::ErrorCode::kForbidden, .message = "no", .http_status = 403});
  f.RunFor(3s);
  REQUIRE(f.answers.back().has_value());
  CHECK(f.answers.back()->kind == Kind::kAllowed);
  CHECK(f.Reserved() == 0);
  CHECK(f.Used("q").empty());
}

}  // namespace
}  // namespace new_limits_test
