#pragma once

// How operations of the sandbox fail: with the Status that the client shall read. An Outcome<T> is
// a value or such a Status; the HTTP surface writes it with the Status's own code. Values; any
// thread.

#include <boost/system/result.hpp>

#include "pkg/api/status.h"

namespace sandbox {

template <typename T>
using Outcome = boost::system::result<T, api::Status>;

}  // namespace sandbox
