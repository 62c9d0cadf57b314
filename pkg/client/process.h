#pragma once

// Runs one program to its end without blocking the executor, and collects its output.
//
// The program gets no input and shares none of our descriptors, unless the options say so, and has
// its own process group. If it runs out of time, its output is too large, or the coroutine is
// cancelled, the whole group is killed. No process and no descriptor is left behind; only a process
// that the kernel does not end within 10 ms is waited for in the background, for a minute.
// Single-threaded.

#include <chrono>
#include <string>
#include <vector>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"

namespace client {

struct ProcessOptions {
  std::vector<std::string> arguments;    // the program first; without '/' it is searched in PATH
  std::vector<std::string> environment;  // "NAME=value", added to ours; these win
  std::chrono::milliseconds timeout{60'000};
  std::size_t max_output = std::size_t{1} << 20;
  bool shares_stdin = false;   // reads our standard input
  bool shares_stderr = false;  // writes to our standard error
  // Stays in our process group: only the foreground group may read a terminal, and an interrupt
  // there reaches both. Then only the program itself is killed, not what it starts.
  bool shares_terminal = false;
};

struct ProcessResult {
  std::string output;   // standard output
  std::string errors;   // the first 4 KiB of standard error, unless it is shared
  int exit_status = 0;  // 128 + n after signal n, as in a shell
};

// Errors: kNotFound if there is no such program, kInvalidArgument if it cannot be executed,
// kTimeout, kTooLarge, kCancelled, kInternal.
base::Task<base::Result<ProcessResult>> RunProcess(base::asio::any_io_executor executor,
                                                   ProcessOptions options);

}  // namespace client
