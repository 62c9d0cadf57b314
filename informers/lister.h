#pragma once

// A complete, consistent list, page by page, decoded item by item while the bytes arrive, so that
// memory holds one item and not the list. The same in Go: client-go v0.36.3, tools/pager/pager.go.
//
// A continuation that the server no longer honours (410) begins the list again, a few times; the
// fresh token that such an answer offers is not used, because its pages are of another version.
//
// Single-threaded; the client outlives the call.

#include <functional>
#include <string>

#include "informers/reflector.h"

namespace informers {

struct ListSink {
  std::function<void()> begin;  // a list follows, also again when it is started over
  std::function<void(const json::Value&)> object;  // decoded; may lack uid or name
};

// How often one call starts over.
inline constexpr int kListRestarts = 3;

// The list's resourceVersion. Errors: of the client; kExpired when `restarts` did not suffice;
// kMalformed for what is no list, also one without items or without a version: an answer of another
// shape is never an empty list.
base::Task<base::Result<std::string>> ListPages(client::ApiClient& client, ReflectorOptions options,
                                                ListSink sink, int restarts = kListRestarts);

// The version that the server's collection has now, which costs one object.
base::Task<base::Result<std::string>> CurrentVersion(client::ApiClient& client,
                                                     ReflectorOptions options);

}  // namespace informers
