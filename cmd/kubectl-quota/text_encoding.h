#pragma once

// The encodings that kubectl reads: UTF-8, and what a byte order mark tells (k8s.io/cli-runtime
// v0.36.3, pkg/resource/visitor.go). `>` of Windows PowerShell writes UTF-16. Pure; any thread.

#include <string>

#include "pkg/base/error.h"

namespace kubectl_quota {

// Returns the text in UTF-8 without a byte order mark. As in kubectl, a unit of UTF-16 that is no
// character becomes U+FFFD. Errors: kInvalidArgument, naming the file, if the text has zero bytes,
// as UTF-16 without a byte order mark and UTF-32 have: YAML and JSON never do.
base::Result<std::string> InUtf8(std::string text, const std::string& file);

}  // namespace kubectl_quota
