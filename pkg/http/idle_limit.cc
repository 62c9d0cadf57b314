#include "pkg/http/idle_limit.h"

#include <glog/logging.h>

#include <algorithm>

namespace http {

IdleLimit::~IdleLimit() { CHECK(addresses_.empty()) << "a connection outlives the limit"; }

IdleLimit::Connection::Connection(IdleLimit& limit, const std::string& address)
    : limit_(limit), place_(limit.addresses_.try_emplace(address).first) {
  ++place_->second.connections;
}

IdleLimit::Connection::~Connection() {
  Leave();
  if (--place_->second.connections > 0) return;
  CHECK(place_->second.idle.empty() && place_->second.waiting.empty())
      << "an address without connections has idle ones, or answers that wait";
  limit_.addresses_.erase(place_);
}

base::Task<void> IdleLimit::Connection::BecomeIdle() {
  CHECK(!idle_) << "a request was answered twice";
  if (HasRoom()) {
    place_->second.last = limit_.scheduler_.Now();
    Enter();
  } else {
    co_await WaitForRoom();
  }
}

base::Task<void> IdleLimit::Connection::WaitForRoom() {
  Address& address = place_->second;
  base::Scheduler& scheduler = limit_.scheduler_;
  Wait wait{.connection = this, .alarm = scheduler.NewAlarm()};
  // It must also leave the list if a cancellation throws out of the wait.
  struct Cleanup {
    std::list<Wait*>& waiting;
    const std::list<Wait*>::iterator place;  // invalid once there is room
    const Wait& wait;
    ~Cleanup() {
      if (!wait.has_room) waiting.erase(place);
    }
  };
  const base::TimePoint latest = scheduler.Now() + limit_.bounds_.longest_wait;
  {
    const auto place = address.waiting.insert(address.waiting.end(), &wait);
    const Cleanup cleanup{address.waiting, place, wait};
    while (!wait.has_room) {
      const base::TimePoint until = std::min(latest, address.last + limit_.bounds_.quiet);
      if (scheduler.Now() >= until) break;
      co_await wait.alarm->WaitUntil(until);
      const bool stopping = co_await base::Stopping();
      if (stopping) break;
    }
  }
  if (!wait.has_room) Enter();
}

bool IdleLimit::Connection::HasRoom() {
  std::list<Connection*>& idle = place_->second.idle;
  const base::TimePoint lately = limit_.scheduler_.Now() - limit_.bounds_.lately;
  while (!idle.empty() && idle.front()->since_ < lately) {
    idle.front()->idle_ = false;
    idle.pop_front();
  }
  return limit_.bounds_.most == 0 || idle.size() < limit_.bounds_.most;
}

void IdleLimit::Connection::Enter() {
  CHECK(!idle_) << "a connection becomes idle twice";
  std::list<Connection*>& idle = place_->second.idle;
  idle_ = true;
  since_ = limit_.scheduler_.Now();
  among_idle_ = idle.insert(idle.end(), this);
}

void IdleLimit::Connection::Leave() {
  Address& address = place_->second;
  address.last = limit_.scheduler_.Now();
  if (!idle_) return;
  idle_ = false;
  address.idle.erase(among_idle_);
  if (address.waiting.empty()) return;
  Wait& wait = *address.waiting.front();
  address.waiting.pop_front();
  wait.has_room = true;
  wait.connection->Enter();  // at once, although its answer leaves a little later
  wait.alarm->Wake();
}

}  // namespace http
