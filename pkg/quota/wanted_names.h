#pragma once

// Which names of an object are read. No I/O, one thread.

#include <cstddef>
#include <functional>
#include <string_view>

namespace quota {

// True for a name that some quota limits. Null: nobody knows which names are limited.
using IsLimited = std::function<bool(std::string_view name)>;

// The names of one object whose amounts are read. A pod can have tens of thousands, and to make
// facts of all takes longer than others may have to wait. So the first reading of an object counts
// its names, and stops to read them when there are too many. Then the object is read again:
//
//   WantedNames wanted(limited);
//   auto read = Read(object, wanted);
//   if (wanted.MustReadAgain()) read = Read(object, wanted);
class WantedNames {
 public:
  // An object with so many names, or fewer, is read as a whole.
  static constexpr std::size_t kManyNames = 256;

  // `limited` may be null: all names are wanted. It must live as long as this.
  explicit WantedNames(const IsLimited& limited) : limited_(limited) {}

  // Call for each name, as often as it stands in the object. In the second reading it is true if a
  // quota may limit the usage of this resource, under its own name or as requests.<resource>, or if
  // it is one of Kubernetes' compute resources.
  bool Wants(std::string_view resource);
  // True after the first reading of an object with too many names: its result is of no use.
  bool MustReadAgain();
  // Wants() was false for some name in the last reading.
  [[nodiscard]] bool left_out() const { return left_out_; }

 private:
  const IsLimited& limited_;
  std::size_t names_ = 0;      // in the first reading
  bool only_limited_ = false;  // in the second reading
  bool left_out_ = false;
};

}  // namespace quota
