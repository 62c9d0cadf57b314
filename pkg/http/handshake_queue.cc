#include "pkg/http/handshake_queue.h"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace http {

base::Task<base::Result<void>> HandshakeQueue::Turn(const Crowd::Guest& guest,
                                                    std::shared_ptr<Socket> socket,
                                                    base::TimePoint deadline) {
  if (!busy_) {
    Begin(guest);
    co_return base::Result<void>();
  }
  Waiter waiter{.guest = &guest, .socket = socket.get()};
  const auto place = waiting_.insert(waiting_.end(), &waiter);
  auto woken = co_await socket->WaitForWake(deadline);
  if (waiter.admitted) co_return woken;  // Next() has removed it
  waiting_.erase(place);
  if (!woken) co_return woken;
  co_return base::Error{.code = base::ErrorCode::kUnavailable,
                        .message = socket->peer() + ": connection closed"};
}

// What is ready by now runs before the next step: the executor is first in, first out.
void HandshakeQueue::Begin(const Crowd::Guest& guest) {
  busy_ = true;
  Crowd::OnServed(guest);
  base::asio::post(executor_, [self = shared_from_this()] { self->Next(); });
}

void HandshakeQueue::Next() {
  busy_ = false;
  const auto next = std::min_element(
      waiting_.begin(), waiting_.end(),
      [](const Waiter* a, const Waiter* b) { return Crowd::ComesFirst(*a->guest, *b->guest); });
  if (next == waiting_.end()) return;
  Waiter& waiter = **next;
  waiting_.erase(next);
  waiter.admitted = true;
  waiter.socket->Wake();
  Begin(*waiter.guest);
}

}  // namespace http
