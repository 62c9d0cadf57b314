#pragma once

// Internal to pkg/http. Who gives way when a server has too many connections, or holds too many
// bytes for them. It only decides: a guest closes itself.
//
// No address has a number of its own. Several API servers may come from one address (konnectivity,
// a load balancer, SNAT), so a number that never locks them out would protect from nobody. An
// address may have all while nobody else wants it. When it gets scarce, guests give way in this
// order:
//
//   1. those that are slow: without a good answer, or in the middle of a request, for 2 s;
//   2. those that are new: no request of theirs was answered well yet;
//   3. those that are known, and wait for their next request or have just begun it;
//
// among these the ones whose address has most, of one address the one that holds most, then the
// oldest. Nobody gives way while his request is in hand.
//
// Single-threaded.

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <string>

#include "pkg/base/clock.h"

namespace http {

class Crowd {
 public:
  enum class Scarce { kConnections, kBytes };
  struct Bounds {
    std::size_t connections = 0;
    std::size_t bytes = 0;  // 0: none
  };
  class Guest;

  // The clock outlives the crowd.
  Crowd(Bounds bounds, const base::Clock& clock) : bounds_(bounds), clock_(clock) {}
  ~Crowd();  // REQUIRES: no guests
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  [[nodiscard]] bool full() const { return size_ >= bounds_.connections; }
  // Lets one give way if it is full; false if nobody can.
  bool MakeRoom();

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Share {  // of an address
    std::size_t connections = 0;
    std::size_t bytes = 0;
  };
  struct Weight;

  // The one to give way: of those that can, and of `asking`, which may be null.
  [[nodiscard]] Guest* Heaviest(Scarce what, Guest* asking) const;
  void SetBytes(Guest& guest, std::size_t bytes);
  bool MakeRoomFor(Guest& asking);

  const Bounds bounds_;
  const base::Clock& clock_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;
  std::list<Guest*> guests_;
  std::map<std::string, Share> shares_;  // by address
};

// One connection. Who derives from it is a guest from construction to destruction.
class Crowd::Guest {
 public:
  Guest(Crowd& crowd, const std::string& address);
  virtual ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

 protected:
  // kConnections: to close now, and a guest no more. kBytes: to release now what it holds. Must not
  // call back.
  virtual void GiveWay(Scarce what) = 0;

  // It waits for a request; a request or an answer is under way; a request is in hand.
  enum class State { kWaiting, kMoving, kInHand };
  void Become(State state);
  // Whether its last request was answered well.
  void SetKnown(bool known) { known_ = known; }

  // What it holds is so much from now on; others may give way. False: it is itself the one that
  // should, and holds what it held.
  [[nodiscard]] bool Hold(std::size_t bytes);
  // The same for one that cannot do without.
  void MustHold(std::size_t bytes);
  [[nodiscard]] std::size_t held() const { return bytes_; }

 private:
  friend class Crowd;
  void Leave();

  Crowd& crowd_;
  std::list<Guest*>::iterator place_;
  std::map<std::string, Share>::iterator share_;
  State state_ = State::kWaiting;
  base::TimePoint since_;  // of the state
  bool known_ = false;
  bool here_ = true;
  std::size_t bytes_ = 0;
};

}  // namespace http
