#pragma once

// Prints the Error or the Status in a failed check.

#include <catch2/catch.hpp>
#include <string>

#include "pkg/api/status.h"
#include "pkg/base/error.h"

template <typename T>
struct Catch::StringMaker<boost::system::result<T, base::Error>> {
  static std::string convert(const boost::system::result<T, base::Error>& result) {
    return result ? "a value" : result.error().message;
  }
};

template <typename T>
struct Catch::StringMaker<boost::system::result<T, api::Status>> {
  static std::string convert(const boost::system::result<T, api::Status>& result) {
    return result ? "a value" : result.error().message;
  }
};
