#pragma once

// Small files read whole: kubeconfigs, certificates, tokens. Each call opens the path anew, so that
// a file swapped by rename or symlink is seen. Blocking, for local files. Any thread.

#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace client {

// Errors: kNotFound when there is no such file, kInvalidArgument otherwise (no permission, a
// folder, more than 16 MiB), naming the path.
base::Result<std::string> ReadFile(const std::string& path);

// `path` as seen from the folder of `file`; absolute paths and "" stay as they are.
std::string ResolveBeside(std::string_view file, std::string_view path);

// Without white space at both ends.
std::string_view Trim(std::string_view text);

}  // namespace client
