#pragma once

// Internal to pkg/http. Lets the connections of a server do TLS handshakes one at a time, with
// everything else that is ready in between. A signature with a large RSA key takes 5 ms, and
// thousands of hellos may arrive at once: requests on established connections must not wait for
// them.
//
// Who comes next is chosen in the crowd's order (Crowd::ComesFirst): from the address whose turn
// was longest ago, then the newest, which still has most of its time.
//
// Single-threaded.

#include <list>
#include <memory>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/http/crowd.h"
#include "pkg/http/socket.h"

namespace http {

class HandshakeQueue : public std::enable_shared_from_this<HandshakeQueue> {
 public:
  explicit HandshakeQueue(base::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // Returns when `guest` may do its next step, which must not wait. Errors: those of
  // Socket::WaitForWake(), and kUnavailable if the peer has disconnected. `guest` must outlive the
  // call.
  base::Task<base::Result<void>> Turn(const Crowd::Guest& guest, std::shared_ptr<Socket> socket,
                                      base::TimePoint deadline);

 private:
  struct Waiter {
    const Crowd::Guest* guest;
    Socket* socket;
    bool admitted = false;
  };
  void Begin(const Crowd::Guest& guest);
  void Next();

  base::asio::any_io_executor executor_;
  std::list<Waiter*> waiting_;
  bool busy_ = false;  // a step was admitted, and not everything ready has run since
};

}  // namespace http
