#pragma once

// Where the records of glog go: one line each to standard error, as text or as JSON. glog still
// decides which records there are (-v, --vmodule).
//
// A line of at most 4 KiB is written by one call. What standard error does not take at once,
// because its disk is full or its reader does not read, is lost: the log never stops or delays the
// program. The next line that is written says how many were lost.

#include <string_view>

namespace logging {

enum class Format { kText, kJson };

// Called once, first of all in main(). `program` is argv[0]. The format is text until it is set.
void Start(const char* program);
void SetFormat(Format format);
[[nodiscard]] Format CurrentFormat();

// For an error that ends the program at its start: a plain line in text, a record in JSON.
void PrintFatalError(std::string_view program, std::string_view message);

}  // namespace logging
