#include "pkg/quota/wanted_names.h"

#include <string>

namespace quota {

bool WantedNames::Wants(std::string_view resource) {
  if (limited_ == nullptr || resource == "cpu" || resource == "memory" ||
      resource == "ephemeral-storage" || (*limited_)(resource) ||
      (*limited_)(std::string("requests.").append(resource))) {
    return true;
  }
  left_out_ = true;
  return false;
}

}  // namespace quota
