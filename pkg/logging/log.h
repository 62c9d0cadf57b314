#pragma once

// Where the records of glog go: one line each to standard error, as text or as JSON. glog still
// decides which records there are (-v, --vmodule).
//
// A line is written at once and by one call. What standard error does not take is lost: the log
// never stops the program.

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
