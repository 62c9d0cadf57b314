#pragma once

// Internal to pkg/http, the only user of zlib. Decodes a gzip body as it arrives, in bounded
// pieces. So the reader can refuse a small body that decodes to gigabytes.

#include <memory>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace http {

class Gunzip {
 public:
  virtual ~Gunzip() = default;
  virtual void Add(std::string bytes) = 0;
  // Returns some decoded bytes; "" if it needs more input. Errors: kMalformed.
  virtual base::Result<std::string> Take() = 0;
  // True if the input so far is a whole number of gzip members, possibly none.
  [[nodiscard]] virtual bool AtEnd() const = 0;
};

std::unique_ptr<Gunzip> NewGunzip();

}  // namespace http
