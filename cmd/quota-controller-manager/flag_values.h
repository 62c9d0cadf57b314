#pragma once

// Values that several flags have. Errors are kInvalidArgument, without the flag's name.

#include <optional>
#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/http/server.h"

namespace manager {

// Quota APIs separated by commas, in the order given, each once. `further`: names that the flag
// takes besides those of quota APIs.
base::Result<std::vector<std::string>> ParseQuotaApis(const std::string& text,
                                                      const std::vector<std::string>& further = {});

// nullopt for an empty text.
base::Result<std::optional<http::BindAddress>> ParseAddress(const std::string& text);

}  // namespace manager
