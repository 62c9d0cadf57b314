#pragma once

// The list and watch requests of one collection (client-go v0.36.3, tools/cache/reflector.go).
// Values; any thread.

#include <chrono>
#include <string>

#include "informers/object_decoder.h"
#include "informers/reflector.h"

namespace informers {

// Requests one page of the newest state. Never resourceVersion=0: it may return state older than
// what was already seen, and a quota must not be summed from that.
client::ApiRequest ListRequest(const ReflectorOptions& options, const ObjectDecoder& decoder,
                               const std::string& continue_token);
client::ApiRequest WatchRequest(const ReflectorOptions& options, const ObjectDecoder& decoder,
                                const std::string& version, std::chrono::seconds timeout);

}  // namespace informers
