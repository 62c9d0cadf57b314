#include "cmd/sandbox-apiserver/faults.h"

#include <catch2/catch.hpp>

namespace sandbox::faults_test {
namespace {

base::Result<Fault> Parse(const std::string& text) { return ParseFault(json::Parse(text).value()); }

const ResourcePath kStatus{{"", "v1", "resourcequotas"}, "a", "q", "status"};
const ResourcePath kPods{{"", "v1", "pods"}, "", "", ""};

}  // namespace

TEST_CASE("faults: a fault applies to at most `times` matching requests", "[sandbox]") {
  FaultTable faults;
  faults.Add(Parse(R"({"fault":"answer","verb":"patch","resource":"resourcequotas",
                      "subresource":"status","code":409,"times":2})")
                 .value());
  CHECK_FALSE(faults.Take(Verb::kUpdate, kStatus));
  CHECK_FALSE(faults.Take(Verb::kPatch, kPods));
  CHECK(faults.Take(Verb::kPatch, kStatus)->code == 409);
  CHECK(faults.Take(Verb::kPatch, kStatus));
  CHECK_FALSE(faults.Take(Verb::kPatch, kStatus));
  CHECK(faults.waiting().empty());
}

TEST_CASE("faults: times -1 applies until the fault is cleared", "[sandbox]") {
  FaultTable faults;
  faults.Add(Parse(R"({"fault":"answer","code":503,"times":-1})").value());
  for (int i = 0; i < 5; ++i) CHECK(faults.Take(Verb::kList, kPods));
  faults.Clear();
  CHECK_FALSE(faults.Take(Verb::kList, kPods));
}

TEST_CASE("faults: the oldest matching fault applies first", "[sandbox]") {
  FaultTable faults;
  faults.Add(Parse(R"({"fault":"answer","resource":"pods","code":429})").value());
  faults.Add(Parse(R"({"fault":"answer","resource":"pods","code":503})").value());
  CHECK(faults.Take(Verb::kList, kPods)->code == 429);
  CHECK(faults.Take(Verb::kList, kPods)->code == 503);
}

TEST_CASE("faults: a spoilt body does not apply to watches", "[sandbox]") {
  FaultTable faults;
  faults.Add(Parse(R"({"fault":"truncate-body","resource":"pods","bytes":5})").value());
  CHECK_FALSE(faults.Take(Verb::kWatch, kPods));
  CHECK(faults.Take(Verb::kList, kPods));
}

TEST_CASE("faults: a stale group affects no request by itself, and clearing removes it",
          "[sandbox]") {
  FaultTable faults;
  faults.AddStaleGroup(Parse(R"({"fault":"stale-group","group":"g.test","version":"v2"})").value());
  CHECK_FALSE(faults.Take(Verb::kList, {{"g.test", "v2", "things"}, "", "", ""}));
  CHECK(faults.stale_groups() == StaleGroups{{"g.test", "v2"}});
  faults.Clear();
  CHECK(faults.stale_groups().empty());
}

TEST_CASE("faults: the error of an invalid fault names the member", "[sandbox]") {
  const auto message = [](const char* text) { return Parse(text).error().message; };
  CHECK(message(R"({"code":500})") == "the member \"fault\" is missing");
  CHECK(message(R"({"fault":"nonsense"})") == "unknown fault \"nonsense\"");
  CHECK(message(R"({"fault":"answer","code":7})") == "code must be an HTTP status of 200 to 599");
  CHECK(message(R"({"fault":"expire","tiems":1})") == "unknown member \"tiems\"");
  CHECK(message(R"({"fault":"stale-group"})") == "a stale group needs its name");
  CHECK(message(R"({"fault":"expire","times":0})") == "times must be positive, or -1 for ever");
  CHECK(message(R"({"fault":"delay-watch","delay":"5 minutes"})").find("delay: ") == 0);
  CHECK(message("[]") == "a fault is a JSON object, not []");
}

}  // namespace sandbox::faults_test
