#include "pkg/http/pool.h"

#include <glog/logging.h>

#include <algorithm>

namespace http {

std::unique_ptr<Connection> Pool::Take(base::TimePoint now) {
  DropOld(now);
  while (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back().connection);
    idle_.pop_back();
    // The server may have closed it meanwhile.
    if (connection->StillIdle()) return connection;
  }
  return nullptr;
}

void Pool::Put(std::unique_ptr<Connection> connection, int generation, base::TimePoint now) {
  CHECK_LE(generation, generation_) << "a connection of a generation that has not begun";
  DropOld(now);
  if (generation != generation_ || max_idle_ == 0) return;
  // The server would close the oldest one first.
  if (idle_.size() >= max_idle_) idle_.erase(idle_.begin());
  CHECK(idle_.empty() || idle_.back().since <= now) << "the idle connections are not in order";
  idle_.push_back({std::move(connection), now});
}

void Pool::Clear() {
  ++generation_;
  idle_.clear();
}

void Pool::DropOld(base::TimePoint now) {
  const auto young = std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) {
    return now - idle.since < idle_timeout_;
  });
  idle_.erase(idle_.begin(), young);
}

}  // namespace http
