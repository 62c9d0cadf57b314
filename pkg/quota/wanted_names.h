#pragma once

// Which names of an object are read. No I/O, one thread.

#include <cstddef>
#include <functional>
#include <string_view>

namespace quota {

// True for a name that some quota limits. Null: nobody knows which names are limited.
using IsLimited = std::function<bool(std::string_view name)>;

// The names of one object whose amounts are read. A pod can have tens of thousands, and to make
// facts of all takes longer than others may have to wait.
class WantedNames {
 public:
  // An object with so many names, or fewer, is read as a whole.
  static constexpr std::size_t kManyNames = 256;

  // Of an object that has `names` names. `limited` may be null: all are wanted. It must live as
  // long as this.
  WantedNames(const IsLimited& limited, std::size_t names)
      : limited_(limited && names > kManyNames ? &limited : nullptr) {}

  // True if a quota may limit the usage of this resource, under its own name or as
  // requests.<resource>, or if it is one of Kubernetes' compute resources.
  bool Wants(std::string_view resource);
  // Wants() was false for some resource.
  [[nodiscard]] bool left_out() const { return left_out_; }

 private:
  const IsLimited* limited_;
  bool left_out_ = false;
};

}  // namespace quota
