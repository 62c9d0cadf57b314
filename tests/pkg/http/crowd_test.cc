#include "pkg/http/crowd.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace crowd_test {

namespace {

using http::Crowd;
using namespace std::chrono_literals;

// A connection that the test controls.
class Client final : public Crowd::Guest {
 public:
  using Guest::Become;
  using Guest::held;
  using Guest::Hold;
  using Guest::MustHold;
  using Guest::SetKnown;
  using Guest::State;

  Client(Crowd& crowd, const std::string& address) : Guest(crowd, address) {}

  // Its bytes wait until the server reads them.
  void Arrive() { arrived_ = true; }
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] bool released() const { return released_; }
  // How often it was asked whether the server waits for it.
  [[nodiscard]] int asked() const { return asked_; }

 private:
  void GiveWay(Crowd::Scarce what) override {
    (what == Crowd::Scarce::kConnections ? closed_ : released_) = true;
  }
  [[nodiscard]] bool IsAwaited() const override {
    ++asked_;
    return !arrived_;
  }
  mutable int asked_ = 0;
  bool arrived_ = false;
  bool closed_ = false;
  bool released_ = false;
};

using State = Client::State;

class Party {
 public:
  explicit Party(Crowd::Bounds bounds) : crowd(bounds, clock) {}

  Client& Come(const std::string& address) {
    clients_.push_back(std::make_unique<Client>(crowd, address));
    return *clients_.back();
  }
  // Adds a client whose first request succeeded, and which waits for the next.
  Client& ComeKnown(const std::string& address) {
    Client& client = Come(address);
    client.SetKnown(true);
    return client;
  }

  base::ManualClock clock;
  Crowd crowd;

 private:
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace

TEST_CASE("crowd: no connection is closed while there is room", "[http][crowd]") {
  Party party({.connections = 2, .bytes = 100});
  Client& one = party.Come("a");
  CHECK_FALSE(party.crowd.full());
  CHECK(party.crowd.MakeRoom());
  Client& other = party.Come("a");
  CHECK(party.crowd.full());
  CHECK(one.Hold(60));
  CHECK(other.Hold(40));
  CHECK(party.crowd.bytes() == 100);
  CHECK_FALSE(one.closed());
  CHECK_FALSE(one.released());
}

TEST_CASE("crowd: clients without a valid request are closed first", "[http][crowd]") {
  Party party({.connections = 4, .bytes = 0});
  Client& api_server = party.ComeKnown("a");
  Client& fresh = party.Come("b");
  party.clock.Advance(1h);  // the API server waits, which is allowed
  Client& late = party.Come("c");
  Client& second = party.ComeKnown("a");
  REQUIRE(party.crowd.MakeRoom());
  CHECK(fresh.closed());
  CHECK(party.crowd.size() == 3);
  party.Come("d");
  REQUIRE(party.crowd.MakeRoom());
  CHECK(late.closed());
  CHECK_FALSE(api_server.closed());
  CHECK_FALSE(second.closed());
}

TEST_CASE("crowd: the address with the most unknown clients loses a connection", "[http][crowd]") {
  Party party({.connections = 4, .bytes = 0});
  Client& single = party.Come("a");
  party.clock.Advance(1ms);
  Client& oldest = party.Come("b");
  party.clock.Advance(1ms);
  Client& middle = party.Come("b");
  Client& newest = party.Come("b");
  REQUIRE(party.crowd.MakeRoom());
  CHECK(oldest.closed());
  CHECK_FALSE(single.closed());
  CHECK_FALSE(middle.closed());
  CHECK_FALSE(newest.closed());
}

TEST_CASE("crowd: the known client that was idle longest is closed", "[http][crowd]") {
  Party party({.connections = 2, .bytes = 0});
  Client& idle = party.ComeKnown("a");
  Client& busy = party.ComeKnown("a");
  party.clock.Advance(1min);
  busy.Become(State::kInHand);
  busy.Become(State::kWaiting);
  REQUIRE(party.crowd.MakeRoom());
  CHECK(idle.closed());
  CHECK_FALSE(busy.closed());
}

TEST_CASE("crowd: a known client that sends a request slowly becomes unknown", "[http][crowd]") {
  Party party({.connections = 2, .bytes = 0});
  Client& slow = party.ComeKnown("a");
  slow.Become(State::kMoving);
  party.clock.Advance(3s);
  Client& fresh = party.Come("b");
  REQUIRE(party.crowd.MakeRoom());
  CHECK(slow.closed());
  CHECK_FALSE(fresh.closed());
}

TEST_CASE("crowd: a client whose bytes a busy server has not read is not slow", "[http][crowd]") {
  Party party({.connections = 9, .bytes = 100});
  Client& api_server = party.ComeKnown("a");
  api_server.Become(State::kMoving);
  REQUIRE(api_server.Hold(10));
  api_server.Arrive();
  Client& handshake = party.Come("b");
  REQUIRE(handshake.Hold(5));
  handshake.Arrive();
  party.clock.Advance(3s);
  Client& fresh = party.Come("c");
  CHECK_FALSE(fresh.Hold(90));
  CHECK_FALSE(api_server.released());
  CHECK_FALSE(handshake.released());
}

TEST_CASE("crowd: no connection with a current request is closed", "[http][crowd]") {
  Party party({.connections = 1, .bytes = 10});
  Client& busy = party.Come("a");
  REQUIRE(busy.Hold(10));
  busy.Become(State::kInHand);
  CHECK_FALSE(party.crowd.MakeRoom());
  CHECK_FALSE(busy.closed());
  CHECK_FALSE(busy.Hold(11));
  CHECK(busy.held() == 10);
  CHECK(busy.Hold(5));
  CHECK(party.crowd.bytes() == 5);
}

TEST_CASE("crowd: memory is taken back from the address that holds most", "[http][crowd]") {
  Party party({.connections = 9, .bytes = 100});
  Client& large = party.Come("a");
  Client& small = party.Come("a");
  Client& other = party.Come("b");
  REQUIRE(small.Hold(10));
  REQUIRE(large.Hold(50));
  REQUIRE(other.Hold(40));
  Client& api_server = party.Come("c");
  CHECK(api_server.Hold(20));
  CHECK(large.released());
  CHECK(large.held() == 0);
  CHECK_FALSE(small.released());
  CHECK_FALSE(other.released());
  CHECK(party.crowd.bytes() == 70);
}

TEST_CASE("crowd: a request of the address that holds most is refused itself", "[http][crowd]") {
  Party party({.connections = 9, .bytes = 100});
  Client& one = party.Come("a");
  Client& other = party.Come("b");
  REQUIRE(one.Hold(30));
  REQUIRE(other.Hold(40));
  Client& greedy = party.Come("c");
  CHECK_FALSE(greedy.Hold(50));
  CHECK(greedy.held() == 0);
  CHECK(greedy.Hold(30));
  CHECK_FALSE(one.released());
  CHECK_FALSE(other.released());
  // MustHold() cannot fail: a client with an answer to send takes bytes from others, or exceeds the
  // bound.
  greedy.MustHold(200);
  CHECK(greedy.held() == 200);
}

TEST_CASE("crowd: the largest request of an address is ended", "[http][crowd]") {
  Party party({.connections = 9, .bytes = 100});
  Client& attacker = party.Come("a");
  REQUIRE(attacker.Hold(99));
  Client& api_server = party.Come("a");
  CHECK(api_server.Hold(5));
  CHECK(attacker.released());
  Client& again = party.Come("a");
  CHECK_FALSE(again.Hold(99));
  CHECK(api_server.held() == 5);
}

TEST_CASE("crowd: slow unknown clients lose their memory to a known client", "[http][crowd]") {
  Party party({.connections = 9, .bytes = 100});
  std::vector<Client*> slow;
  for (const char* address : {"a", "b", "c", "d", "e"}) {
    slow.push_back(&party.Come(address));
    slow.back()->Become(State::kMoving);
    REQUIRE(slow.back()->Hold(20));
  }
  party.clock.Advance(3s);
  Client& api_server = party.ComeKnown("f");
  api_server.Become(State::kMoving);
  CHECK(api_server.Hold(60));
  int released = 0;
  for (const Client* each : slow) released += each->released() ? 1 : 0;
  CHECK(released == 3);
  CHECK(party.crowd.bytes() == 100);
}

TEST_CASE("crowd: unproven clients share a part of the memory", "[http][crowd]") {
  Party party({.connections = 9, .bytes = 100, .bytes_unproven = 40});
  Client& known = party.ComeKnown("a");
  known.Become(State::kMoving);
  REQUIRE(known.Hold(30));
  Client& first = party.Come("b");
  REQUIRE(first.Hold(30));
  SECTION("the heaviest of them gives way") {
    Client& second = party.Come("b");
    CHECK(second.Hold(20));
    CHECK(first.released());
    CHECK_FALSE(second.Hold(41));
    CHECK(second.held() == 20);
    CHECK_FALSE(known.released());
  }
  SECTION("a slow known client does not give way to them") {
    party.clock.Advance(3s);
    Client& second = party.Come("c");
    CHECK(second.Hold(40));
    CHECK(first.released());
    CHECK_FALSE(known.released());
  }
  SECTION("a request in hand does not count") {
    first.Become(State::kInHand);
    Client& second = party.Come("b");
    CHECK(second.Hold(40));
    CHECK_FALSE(first.released());
    // Its answer counts, if it was a bad one.
    first.Become(State::kMoving);
    first.MustHold(31);
    CHECK(second.released());
  }
  SECTION("one that was answered well does not count") {
    first.SetKnown(true);
    Client& second = party.Come("b");
    CHECK(second.Hold(40));
    CHECK_FALSE(first.released());
    CHECK(party.crowd.bytes() == 100);
  }
}

TEST_CASE("crowd: no memory is taken back without a bound on bytes", "[http][crowd]") {
  Party party({.connections = 2, .bytes = 0});
  Client& one = party.Come("a");
  CHECK(one.Hold(std::size_t{1} << 40));
  CHECK_FALSE(one.released());
}

TEST_CASE("crowd: each address gets its turn, and its newest connection comes first",
          "[http][crowd]") {
  Party party({.connections = 5});
  const Client& first = party.Come("stranger");
  party.clock.Advance(1s);
  const Client& second = party.Come("stranger");
  const Client& server = party.Come("server");
  CHECK(Crowd::ComesFirst(second, first));
  CHECK(Crowd::ComesFirst(first, server));
  CHECK_FALSE(Crowd::ComesFirst(first, first));
  Crowd::OnServed(second);
  CHECK(Crowd::ComesFirst(server, first));
  CHECK(Crowd::ComesFirst(server, second));
  Crowd::OnServed(server);
  CHECK(Crowd::ComesFirst(first, server));
  // One that had to give way is behind all others.
  party.Come("server");
  party.Come("server");
  REQUIRE(party.crowd.MakeRoom());
  const Client& gone = first.closed() ? first : server;
  REQUIRE(gone.closed());
  CHECK_FALSE(Crowd::ComesFirst(gone, second));
  CHECK(Crowd::ComesFirst(second, gone));
}

// Twenty strangers connect again for each step, with one connection each. The API server has many.
TEST_CASE("crowd: strangers that always connect anew leave an API server its turns",
          "[http][crowd]") {
  Party party({.connections = 100});
  for (int i = 0; i < 25; ++i) party.ComeKnown("server");
  const Client& dial = party.Come("server");
  constexpr int kStrangers = 20;
  std::vector<std::unique_ptr<Client>> strangers;
  const auto come = [&](std::size_t i) {
    return std::make_unique<Client>(party.crowd, "stranger" + std::to_string(i));
  };
  for (std::size_t i = 0; i < kStrangers; ++i) strangers.push_back(come(i));
  int turns = 0;
  for (int step = 0; step < 10 * (kStrangers + 1); ++step) {
    party.clock.Advance(1ms);
    const auto next = std::ranges::min_element(
        strangers, [](const auto& a, const auto& b) { return Crowd::ComesFirst(*a, *b); });
    if (Crowd::ComesFirst(dial, **next)) {
      Crowd::OnServed(dial);
      ++turns;
      continue;
    }
    Crowd::OnServed(**next);
    next->reset();
    *next = come(static_cast<std::size_t>(next - strangers.begin()));
  }
  CHECK(turns == 10);
}

// Each question is a system call, and thousands may be slow.
TEST_CASE("crowd: of many slow connections, only those are asked that may give way",
          "[http][crowd]") {
  Party party({.connections = 1000, .bytes = 1000});
  std::vector<Client*> slow;
  for (int i = 0; i < 999; ++i) {
    slow.push_back(&party.Come("address " + std::to_string(i % 50)));
    REQUIRE(slow.back()->Hold(1));
  }
  party.clock.Advance(10s);
  party.Come("late");
  REQUIRE(party.crowd.MakeRoom());
  Client& another = party.Come("another");
  REQUIRE(another.Hold(2));
  int asked = 0;
  for (const Client* each : slow) asked += each->asked();
  CHECK(asked <= 8);
}

}  // namespace crowd_test
