#include <catch2/catch.hpp>

#include "tests/informers/collection.h"

namespace lister_test {

using namespace std::chrono_literals;
using namespace informers::testing;
using base::ErrorCode;
using fake::Answer;

namespace {

// One ListAll() in virtual time.
struct Listing {
  base::asio::io_context io;
  base::ManualScheduler scheduler{io};
  fake::ScriptedClient server{scheduler};
  base::TaskGroup group{io.get_executor()};
  std::vector<std::string> names;
  bool restarts_wanted = true;
  int restarts = 0;
  base::Result<std::string> result = base::Error{.message = "not done"};

  base::Task<void> List() {
    std::function<void()> restart;
    if (restarts_wanted) {
      restart = [this] {
        ++restarts;
        names.clear();
      };
    }
    const auto object = [this](const json::Value& value) {
      names.emplace_back(value.StringAt({"metadata", "name"}));
    };
    informers::ReflectorOptions options{.resource = {"", "v1", "pods"}};
    result = co_await informers::ListAll(server, scheduler, options, object, restart);
  }
  void Run() {
    group.Spawn("list", [this] { return List(); });
    scheduler.RunUntilIdle();
  }
};

}  // namespace

TEST_CASE("list all: it returns the objects of every page and the version of the first",
          "[informers]") {
  Listing l;
  l.server.OnList(Answer::Whole(List("10", {"a1", "a2"}, "t")));
  l.server.OnList(Answer::Whole(ListBody("10", {Object("a3", "1"), R"({"metadata":{}})"})));
  l.Run();
  REQUIRE(l.result.has_value());
  CHECK(*l.result == "10");
  CHECK(l.names == std::vector<std::string>{"a1", "a2", "a3"});
}

TEST_CASE("list all: it calls `restart` before objects come again", "[informers]") {
  Listing l;
  l.server.OnList(Answer::Whole(List("10", {"a1"}, "t")));
  l.server.OnList(Answer::Refuse(ErrorCode::kExpired));
  l.server.OnList(Answer::Whole(List("20", {"a2"})));
  l.Run();
  CHECK(*l.result == "20");
  CHECK(l.restarts == 1);
  CHECK(l.names == std::vector<std::string>{"a2"});
}

TEST_CASE("list all: pages are larger after each expired one, and at last there is one page",
          "[informers]") {
  Listing l;
  for (int i = 0; i < 3; ++i) {
    l.server.OnList(Answer::Whole(List("10", {"a1"}, "t")));
    l.server.OnList(Answer::Refuse(ErrorCode::kExpired));
  }
  l.server.OnList(Answer::Whole(List("20", {"a1", "a2"})));
  l.Run();
  CHECK(*l.result == "20");
  CHECK(l.names == std::vector<std::string>{"a1", "a2"});
  std::vector<std::string> limits;
  for (const auto& list : l.server.lists) limits.push_back(list.Query("limit"));
  CHECK(limits == std::vector<std::string>{"500", "500", "5000", "5000", "50000", "50000", ""});
}

TEST_CASE("list all: a page may begin after a minute, and then has one to show progress",
          "[informers]") {
  Listing l;
  Answer page = Answer::Whole(List("10", {"a1"}));
  page.delay = 59s;
  page.pieces.push_back({"\n", 59s});
  l.server.OnList(page);
  l.Run();
  l.scheduler.RunFor(2min);
  REQUIRE(l.server.lists.size() == 1);
  CHECK(l.server.lists[0].request.timeout == 60s);
  CHECK(l.result.has_value());
}

TEST_CASE("list all: an expired page is an error without `restart`", "[informers]") {
  Listing l;
  l.restarts_wanted = false;
  l.server.OnList(Answer::Whole(List("10", {"a1"}, "t")));
  l.server.OnList(Answer::Refuse(ErrorCode::kExpired));
  l.server.OnList(Answer::Whole(List("20", {"a2"})));
  l.Run();
  CHECK(l.result.error().code == ErrorCode::kExpired);
  CHECK(l.server.lists.size() == 2);
}

TEST_CASE("list all: an error on any page fails the whole list", "[informers]") {
  Listing l;
  l.server.OnList(Answer::Whole(List("10", {"a1"}, "t")));
  l.server.OnList(Answer::Refuse(ErrorCode::kUnavailable));
  l.Run();
  CHECK(l.result.error().code == ErrorCode::kUnavailable);
}

TEST_CASE("list all: a cancellation within a page ends it without a result", "[informers]") {
  Listing l;
  l.server.OnList(Answer::Open(R"({"items":[)" + Object("a1", "1")));
  l.Run();
  l.group.Cancel();
  l.scheduler.RunUntilIdle();
  CHECK(l.group.empty());
  CHECK_FALSE(l.result.has_value());
}

}  // namespace lister_test
