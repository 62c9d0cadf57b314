#pragma once

// Runs one program to its end without blocking the executor, and collects what it prints.
//
// The program gets no input, its standard error is ours, and its own process group. When the time
// is over, the output too large, or the coroutine cancelled, the whole group is killed. No process
// and no descriptor stays behind. Single-threaded.

#include <chrono>
#include <string>
#include <vector>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"

namespace client {

struct ProcessOptions {
  std::vector<std::string> arguments;    // the program first; without '/' it is searched in PATH
  std::vector<std::string> environment;  // "NAME=value", beside our own; these win
  std::chrono::milliseconds timeout{60'000};
  std::size_t max_output = std::size_t{1} << 20;
};

struct ProcessResult {
  std::string output;   // standard output
  int exit_status = 0;  // 128 + n after signal n, as a shell says it
};

// Errors: kNotFound when there is no such program, kInvalidArgument when it cannot be executed,
// kTimeout, kTooLarge, kCancelled, kInternal.
base::Task<base::Result<ProcessResult>> RunProcess(base::asio::any_io_executor executor,
                                                   ProcessOptions options);

}  // namespace client
