#include "cmd/sandbox-apiserver/query.h"

#include <catch2/catch.hpp>

#include "pkg/api/object_meta.h"
#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::query_test {
namespace {

class ListTest : public CoreFixture {
 protected:
  void MakeMaps(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      json::Value body = J("{}");
      body.Make({"metadata", "name"}) = name;
      REQUIRE(store_.Create(At("configmaps", ""), body));
    }
  }
  Outcome<ListPage> List(const ListQuery& query) {
    return store_.objects().List(Core("configmaps"), query);
  }
  static std::string Names(const ListPage& page) {
    std::string names;
    for (const ObjectPtr& object : page.items) names += api::Name(*object);
    return names;
  }
};

TEST_CASE_METHOD(ListTest, "list: an empty list has the current version", "[sandbox]") {
  auto page = List({});
  REQUIRE(page);
  CHECK(page->items.empty());
  CHECK(page->resource_version == store_.objects().current_version());
}

TEST_CASE_METHOD(ListTest, "list: all pages show one state, in spite of later writes",
                 "[sandbox]") {
  MakeMaps({"a", "b", "c", "d", "e"});
  const std::uint64_t then = store_.objects().current_version();
  ListQuery query;
  query.ns = "default";
  query.limit = 2;
  auto first = List(query);
  REQUIRE(first);
  CHECK(Names(*first) == "ab");
  CHECK(first->remaining == 3);
  REQUIRE(store_.Delete(At("configmaps", "c")));
  MakeMaps({"cc"});
  query.continue_token = first->continue_token;
  auto second = List(query);
  REQUIRE(second);
  CHECK(Names(*second) == "cd");
  CHECK(second->resource_version == then);
  query.continue_token = second->continue_token;
  auto third = List(query);
  REQUIRE(third);
  CHECK(Names(*third) == "e");
  CHECK(third->continue_token.empty());
  CHECK_FALSE(third->remaining);
}

TEST_CASE_METHOD(ListTest, "list: an expired token is 410 with a new token to continue",
                 "[sandbox]") {
  MakeMaps({"a", "b", "c"});
  ListQuery query;
  query.limit = 1;
  auto first = List(query);
  REQUIRE(first);
  MakeMaps({"d"});
  store_.objects().ExpireHistory();
  query.continue_token = first->continue_token;
  auto expired = List(query);
  REQUIRE_FALSE(expired);
  CHECK(expired.error().code == 410);
  query.continue_token = expired.error().continue_token;
  query.limit = 0;
  auto rest = List(query);
  REQUIRE(rest);
  CHECK(Names(*rest) == "bcd");
  query.continue_token = "garbage!";
  CHECK(List(query).error().code == 400);
}

TEST_CASE_METHOD(ListTest, "list: a version is the least that a client takes", "[sandbox]") {
  MakeMaps({"a"});
  const std::string then = std::to_string(store_.objects().current_version());
  MakeMaps({"b"});
  ListQuery query;
  query.resource_version = then;
  CHECK(Names(*List(query)) == "ab");
  query.resource_version = "0";
  query.limit = 1;
  CHECK(Names(*List(query)) == "ab");
  query.resource_version = "100000";
  auto future = List(query);
  CHECK(future.error().code == 504);
  CHECK(future.error().details.causes.at(0).reason == "ResourceVersionTooLarge");
  CHECK(future.error().retry_after_seconds == 1);
  query.resource_version = "x1";
  CHECK(List(query).error().code == 400);
}

TEST_CASE_METHOD(ListTest, "list: fields select pods, unknown fields are 400", "[sandbox]") {
  REQUIRE(MakePod("a", "n1"));
  REQUIRE(MakePod("b", "n2"));
  ListQuery query;
  query.field_selector = "spec.nodeName=n1,status.phase=Pending";
  auto page = store_.objects().List(Core("pods"), query);
  REQUIRE(page);
  CHECK(Names(*page) == "a");
  query.field_selector = "spec.color=red";
  auto refused = store_.objects().List(Core("pods"), query);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 400);
  CHECK(refused.error().message == "field label not supported: spec.color");
  query.field_selector = "";
  query.label_selector = "a in (";
  CHECK(store_.objects().List(Core("pods"), query).error().code == 400);
}

TEST_CASE("query: continue tokens survive their own encoding", "[sandbox]") {
  const ContinueToken token{18446744, "team-a/web-\xc3\xa9?"};
  const std::string text = EncodeToken(token);
  CHECK(text.find_first_of("+/=") == std::string::npos);
  auto decoded = DecodeToken(text);
  REQUIRE(decoded);
  CHECK(decoded->resource_version == token.resource_version);
  CHECK(decoded->start_key == token.start_key);
}

TEST_CASE("query: a field that is not a string is compared as text", "[sandbox]") {
  const json::Value object = J(R"({"spec":{"unschedulable":true,"n":3}})");
  CHECK(FieldText(object, "spec.unschedulable") == "true");
  CHECK(FieldText(object, "spec.n") == "3");
  CHECK(FieldText(J("{}"), "spec.nodeName").empty());
}

}  // namespace
}  // namespace sandbox::query_test
