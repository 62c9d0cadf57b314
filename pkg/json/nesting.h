#pragma once

#include <cstddef>
#include <string_view>

namespace json {

// Where a scan stands in a JSON value.
struct Nesting {
  std::size_t depth = 0;  // open objects and arrays
  bool in_string = false;
  bool escaped = false;  // the next byte, in a string
};

// Follows one value after the other through their bytes, however they are cut.
class Scanner {
 public:
  virtual ~Scanner() = default;
  // Returns how many of `bytes` belong to the value; all of them if it continues after them.
  // REQUIRES: `bytes` is not empty. The first byte of a value opens an object, an array or a
  // string.
  virtual std::size_t Scan(std::string_view bytes) = 0;
  // True if the last Scan() reached the value's end. The next Scan() begins another value.
  [[nodiscard]] virtual bool Complete() const = 0;
};

// Only counts brackets and follows strings.
class NestingScanner final : public Scanner {
 public:
  // Inside of so many objects and arrays, between strings. Complete if that is none.
  explicit NestingScanner(std::size_t depth = 0) : nesting_{.depth = depth} {}
  std::size_t Scan(std::string_view bytes) override;
  [[nodiscard]] bool Complete() const override {
    return nesting_.depth == 0 && !nesting_.in_string;
  }

 private:
  std::size_t ScanString(std::string_view bytes, std::size_t at);

  Nesting nesting_;
};

}  // namespace json
