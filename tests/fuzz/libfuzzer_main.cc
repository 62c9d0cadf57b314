// What libFuzzer calls: the one target that is linked in.

#include <glog/logging.h>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_FATAL;
  CHECK_EQ(fuzz::Targets().size(), 1U);
  return 0;
}

// What is thrown ends the process where it was thrown, so that libFuzzer shows the place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Targets().front().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
