#pragma once

// TEST ONLY. The nastiest objects of a kind: for each list, map and text on the way to a field that
// an evaluator reads, an object in which this one takes as many bytes as given; and for the
// metadata that every object has. API servers accept 1.5 MB.
//
// They are made from the evaluator's fields, and from the message of a kind that is read as
// protobuf, so a new evaluator has them by itself. Some are objects that an API server refuses.

#include <cstddef>
#include <functional>
#include <string>

#include "pkg/json/value.h"
#include "pkg/quota/evaluator.h"

namespace quota::nasty {

// The most that an API server accepts (etcd v3.6, --max-request-bytes).
inline constexpr std::size_t kMostBytes = 1'500'000;

struct Object {
  std::string what;  // "spec.containers: list"
  json::Value value;
};

// One after the other: each takes some ten times its bytes.
void ForEachObject(const Evaluator& evaluator, std::size_t bytes,
                   const std::function<void(const Object&)>& visit);

}  // namespace quota::nasty
