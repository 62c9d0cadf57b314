#pragma once

// Internal to pkg/http, the only user of zlib. Decodes a gzip body as it arrives, in bounded
// pieces: a small body that swells to gigabytes is the reader's to refuse.

#include <memory>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace http {

class Gunzip {
 public:
  virtual ~Gunzip() = default;
  virtual void Add(std::string bytes) = 0;
  // Some decoded bytes; "" when more input is needed. Errors: kMalformed.
  virtual base::Result<std::string> Take() = 0;
  // The input given so far is a whole number of gzip members, none included.
  [[nodiscard]] virtual bool AtEnd() const = 0;
};

std::unique_ptr<Gunzip> NewGunzip();

}  // namespace http
