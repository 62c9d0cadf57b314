#pragma once

// The result of an operation: a failure is the Status that the client gets. An Outcome<T> is a
// value or such a Status; the HTTP surface writes it with the Status's own code. Values; any
// thread.

#include <boost/system/result.hpp>

#include "pkg/api/status.h"

namespace sandbox {

template <typename T>
using Outcome = boost::system::result<T, api::Status>;

}  // namespace sandbox
