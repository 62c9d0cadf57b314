#pragma once

// Reads small files whole: kubeconfigs, certificates, tokens. Each call opens the path anew, so a
// file replaced by a rename or a symlink is noticed. Blocking, for local files. Any thread.

#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace client {

// Errors, naming the path: kNotFound if there is no such file, kInvalidArgument otherwise (no
// permission, a folder, a FIFO, a device other than /dev/null, more than 16 MiB).
base::Result<std::string> ReadFile(const std::string& path);

// Resolves `path` relative to the folder of `file`. Absolute paths and "" stay as they are.
std::string ResolveBeside(std::string_view file, std::string_view path);

// Returns the text without white space at both ends.
std::string_view Trim(std::string_view text);

}  // namespace client
