// Failures as the state and the log show them.
#include <catch2/catch.hpp>

#include "informers/reflector.h"
#include "tests/fake/captured_log.h"
#include "tests/informers/collection.h"

namespace trouble_test {
namespace {

using namespace std::chrono_literals;
using namespace informers::testing;
using base::ErrorCode;
using fake::Answer;

}  // namespace

TEST_CASE("reflector: a forbidden collection keeps its last state, and is retried", "[informers]") {
  const ErrorCode code = GENERATE(ErrorCode::kUnauthorized, ErrorCode::kForbidden,
                                  ErrorCode::kNotFound, ErrorCode::kTls);
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.server.OnWatch(Answer::Whole("").EndingAfter(10s));
  f.server.OnWatch(Answer::Refuse(code));
  f.RunFor(10s);
  CHECK(f.store.names() == Names{"a1"});
  CHECK(f.store.ended == 1);
  CHECK(f.state().trouble->code == code);
  f.server.OnList(Answer::Whole(List("20", {"a1"})));
  f.RunFor(20s);
  CHECK_FALSE(f.state().trouble);
}

TEST_CASE("reflector: the first event ends the trouble", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  for (int i = 0; i < 3; ++i) f.server.OnWatch(Answer::Whole(""));
  f.server.OnWatch(Answer::Open(Bookmark("12")));
  f.RunFor(30s);
  CHECK_FALSE(f.state().trouble);
  CHECK(f.state().failures == 1);
}

TEST_CASE("reflector: a lasting watch ends the trouble without an event", "[informers]") {
  Fixture f;
  f.server.OnList(Answer::Whole(List("10", {})));
  for (int i = 0; i < 3; ++i) f.server.OnWatch(Answer::Whole(""));
  f.options.idle_timeout = 1h;
  f.RunFor(2s);
  while (f.server.watches.size() < 4) f.RunFor(100ms);  // the fourth stays open and silent
  CHECK(f.state().trouble);
  f.RunFor(500ms);
  CHECK(f.state().trouble);
  f.RunFor(1s);
  CHECK_FALSE(f.state().trouble);
  CHECK(f.state().failures == 1);
}

TEST_CASE("reflector: it reports its state only when it changes", "[informers]") {
  Fixture f;
  for (int i = 0; i < 3; ++i) f.server.OnList(Answer::Refuse(ErrorCode::kForbidden));
  f.Run();
  CHECK(f.store.states == 1);
  f.RunFor(5s);
  CHECK(f.store.states == 1);  // still the same trouble
  CHECK(f.state().failures == 3);
  f.server.OnList(Answer::Whole(List("10", {})));
  f.RunFor(60s);
  CHECK(f.store.states == 2);  // recovered and synced at once
}

TEST_CASE("reflector: a failure that lasts is logged every five minutes", "[informers]") {
  fake::CapturedLog log;
  Fixture f;
  for (int i = 0; i < 1000; ++i) f.server.OnList(Answer::Refuse(ErrorCode::kUnauthorized));
  f.Run();
  f.scheduler.RunFor(21min);
  CHECK(f.state().failures > 30);
  // A retry comes up to a minute after it is due.
  const std::size_t logged = log.With("cannot follow").size();
  CHECK(logged >= 4);
  CHECK(logged <= 5);
}

TEST_CASE("reflector: each failure is logged once until it is over", "[informers]") {
  fake::CapturedLog log;
  Fixture f;
  for (int i = 0; i < 3; ++i) {
    f.server.OnList(Answer::Refuse(ErrorCode::kTooManyRequests));
    f.server.OnList(Answer::Refuse(ErrorCode::kUnavailable));
  }
  f.server.OnList(Answer::Whole(List("10", {"a1"})));
  f.Run();
  f.scheduler.RunFor(30min);
  CHECK(f.state().failures == 6);
  CHECK(f.state().synced);
  CHECK(log.With("cannot follow").size() == 2);
  CHECK(log.With("following again").size() == 1);
}

}  // namespace trouble_test
