#pragma once

// The place of a kubeconfig's entry in messages, and the files that entries name. Any thread.

#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace client {

// Names one entry in messages: `/home/a/config: user "admin"`.
struct Place {
  std::string text;
  // kInvalidArgument.
  [[nodiscard]] base::Error Bad(std::string_view what) const;
};

Place PlaceOf(const std::string& file, std::string_view kind, const std::string& name);

// Returns the PEM of a field that is given as base64 data or as a path; "" if it is not given.
// Errors: kInvalidArgument, naming place and field.
base::Result<std::string> ReadPem(const Place& place, const std::string& data,
                                  const std::string& path, const std::string& field);

}  // namespace client
