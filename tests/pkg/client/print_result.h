#pragma once

// TEST ONLY. Prints a Result in a failed assertion: its error. Without this Catch2 would need to
// print the value.

#include <catch2/catch.hpp>
#include <string>

#include "pkg/base/error.h"

template <typename T>
struct Catch::StringMaker<base::Result<T>> {
  static std::string convert(const base::Result<T>& result) {
    return result ? "a value" : "error: " + result.error().message;
  }
};
