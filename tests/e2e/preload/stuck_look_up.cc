// A library to preload into a program under test. Its look-ups of host names do not end.

#include <netdb.h>
#include <unistd.h>

extern "C" int getaddrinfo(const char* /*host*/, const char* /*port*/, const addrinfo* /*hints*/,
                           addrinfo** /*found*/) {
  for (;;) pause();
}
