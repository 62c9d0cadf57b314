#include "cmd/quota-controller-manager/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>

#include "pkg/base/longest_hold.h"

namespace {

// When Asio last returned from epoll_wait().
base::TimePoint waited_until;

}  // namespace

// Asio waits and works in one call; only the system call in between separates the two. So this
// program is linked with --wrap=epoll_wait, which routes that call through this function.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names.
extern "C" {
int __real_epoll_wait(int fd, epoll_event* events, int most, int milliseconds);
int __wrap_epoll_wait(int fd, epoll_event* events, int most, int milliseconds) {
  const int ready = __real_epoll_wait(fd, events, most, milliseconds);
  waited_until = base::RealClock().Now();
  return ready;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace manager {

void RunLoop(boost::asio::io_context& io, const std::function<void(base::Duration)>& on_held,
             const std::function<bool()>& ended) {
  const base::RealClock clock;
  base::TimePoint before = clock.Now();
  base::LongestHold longest(before);
  while (!ended() && io.run_one() > 0) {
    const base::TimePoint began = std::max(before, waited_until);
    const base::TimePoint now = clock.Now();
    if (const auto held = longest.OnWork(began, now)) on_held(*held);
    before = now;
  }
  io.poll();  // handlers of what was cancelled
}

}  // namespace manager
