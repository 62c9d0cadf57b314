#include "pkg/quota/wanted_names.h"

#include <string>

namespace quota {

bool WantedNames::Wants(std::string_view resource) {
  if (!limited_) return true;
  const bool wanted = only_limited_ ? resource == "cpu" || resource == "memory" ||
                                          resource == "ephemeral-storage" || limited_(resource) ||
                                          limited_(std::string("requests.").append(resource))
                                    : ++names_ <= kManyNames;
  left_out_ = left_out_ || !wanted;
  return wanted;
}

bool WantedNames::MustReadAgain() {
  if (only_limited_ || !left_out_) return false;
  only_limited_ = true;
  left_out_ = false;
  return true;
}

}  // namespace quota
