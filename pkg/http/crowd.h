#pragma once

// Internal to pkg/http. Decides which connection must give way when a server has too many
// connections, or holds too many bytes for them. It only decides; a guest closes itself.
//
// There is no limit per address. Several API servers may share one address (konnectivity, a load
// balancer, SNAT), so a limit that never locks them out would not protect anybody. One address may
// use everything while nobody else needs it. When resources are scarce, guests give way in this
// order:
//
//   1. slow guests, for which the server waits: no good answer yet, or in the middle of a request,
//      for 2 s;
//   2. new guests: none of their requests was answered well yet;
//   3. known guests that wait for their next request or have just begun it.
//
// Within a group, guests of the address with the most connections or bytes come first, then the
// guest that holds most, then the oldest. A guest whose request is being handled never gives way.
//
// New guests share a part of the bytes only, until their requests are complete: anybody can begin a
// request, and memory that was used once is given back late.
//
// Single-threaded.

#include <chrono>
#include <cstddef>
#include <cstdint>
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
    std::size_t bytes = 0;           // 0: none
    std::size_t bytes_unproven = 0;  // of new guests whose requests are not being handled; 0: none
  };
  class Guest;

  // The clock must outlive the crowd.
  Crowd(Bounds bounds, const base::Clock& clock) : bounds_(bounds), clock_(clock) {}
  ~Crowd();  // REQUIRES: no guests
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  [[nodiscard]] bool full() const { return size() >= bounds_.connections; }
  // If it is full, makes one guest give way; false if none can.
  bool MakeRoom();
  // The order of guests whose bytes have arrived, so that none of them is slow: those of the
  // address that was served longest ago come first, then the newest. So each address gets its turn,
  // however many connections it or the others have. A guest that had to give way is behind all.
  // Costs no system call.
  [[nodiscard]] static bool ComesFirst(const Guest& a, const Guest& b);
  // Call when the guest is served. An address counts as served, too, when its first guest comes:
  // one that connects again for each try gains nothing.
  static void OnServed(const Guest& guest);

  [[nodiscard]] std::size_t size() const { return guests_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Share {               // of an address
    std::uint64_t served = 0;  // a later turn has a larger number
    std::size_t connections = 0;
    std::size_t bytes = 0;
  };
  struct Weight;

  enum class Among { kAll, kUnproven };

  // The guest that should give way: one of those that can, or `asking`, which may be null.
  [[nodiscard]] Guest* Heaviest(Scarce what, Among among, Guest* asking) const;
  void SetBytes(Guest& guest, std::size_t bytes);
  // Makes a change of the guest that may make its bytes those of a proven guest, or not any more.
  template <typename Change>
  void Prove(Guest& guest, Change change);
  bool MakeRoomFor(Guest& asking);

  const Bounds bounds_;
  const base::Clock& clock_;
  std::size_t bytes_ = 0;
  std::size_t bytes_unproven_ = 0;
  std::list<Guest*> guests_;
  std::map<std::string, Share> shares_;  // by address
  std::uint64_t turns_ = 0;
};

// One connection. An object of a derived class is a guest from construction to destruction.
class Crowd::Guest {
 public:
  Guest(Crowd& crowd, const std::string& address);
  virtual ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

 protected:
  // kConnections: it must close now, and is no guest any more. kBytes: it must release what it
  // holds now. Must not call back.
  virtual void GiveWay(Scarce what) = 0;
  // True if the server waits for the client; false if what the client sent waits for a busy server,
  // which must not take its own delay for the client's. May cost a system call.
  [[nodiscard]] virtual bool IsAwaited() const = 0;

  // Waiting for a request; receiving a request or sending an answer; handling a request.
  enum class State { kWaiting, kMoving, kInHand };
  void Become(State state);
  // Whether its last request was answered well.
  void SetKnown(bool known);

  // Sets how many bytes it holds; others may have to give way. False: it should itself give way,
  // and its bytes are unchanged.
  [[nodiscard]] bool Hold(std::size_t bytes);
  // The same for bytes that it cannot do without.
  void MustHold(std::size_t bytes);
  [[nodiscard]] std::size_t held() const { return bytes_; }

 private:
  friend class Crowd;
  void Leave();
  // Whether its bytes count against Bounds::bytes_unproven.
  [[nodiscard]] bool unproven() const { return !known_ && state_ != State::kInHand; }

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
