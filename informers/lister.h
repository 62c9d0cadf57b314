#pragma once

// Reads a complete, consistent list page by page, and decodes each item as its bytes arrive. Memory
// holds one item, not the list. The same in Go: client-go v0.36.3, tools/pager/pager.go.
//
// If a continue token has expired (410), the list starts over, a limited number of times, with
// pages of ten times the size, and the last time with a single page. The new token in such an
// answer is not used, because it continues at another resource version.
//
// A list has deadlines (ReflectorOptions): for each page, for the whole, and for a minute of a
// page, in which it must make progress (progress.h). A page may take a minute to begin.
//
// Single-threaded; client and clock must outlive the call.

#include <functional>
#include <string>

#include "informers/reflector.h"

namespace informers {

struct ListSink {
  std::function<void()> begin;  // called before the first page, and again when the list starts over
  std::function<void(const json::Value&)> object;  // one decoded object; may lack uid or name
};

// How often one call may start over.
inline constexpr int kListRestarts = 3;

// Returns the list's resourceVersion. Errors: those of the client; kExpired after more than
// `restarts` restarts; kTimeout after a deadline; kMalformed if the answer is not a list, or has no
// items or no version. An answer of another shape is never taken for an empty list.
base::Task<base::Result<std::string>> ListPages(client::ApiClient& client, const base::Clock& clock,
                                                ReflectorOptions options, ListSink sink,
                                                int restarts = kListRestarts);

// Returns the current resourceVersion of the collection. Requests a list of one object.
base::Task<base::Result<std::string>> CurrentVersion(client::ApiClient& client,
                                                     const base::Clock& clock,
                                                     ReflectorOptions options);

}  // namespace informers
