#include "pkg/http/digest.h"

#include <glog/logging.h>

#include <array>

#include "pkg/http/openssl.h"

namespace http {

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned int size = 0;
  CHECK_EQ(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr), 1);
  return {digest.begin(), digest.end()};
}

}  // namespace http
