#pragma once

// Kubernetes' envelope of protobuf (apimachinery v0.36.3, pkg/runtime/serializer/protobuf): four
// bytes of magic, then a message with apiVersion, kind and the object's own bytes. The object in a
// watch frame has the same envelope. No I/O; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace protobuf {

inline constexpr std::string_view kMediaType = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kMagic{"k8s\0", 4};

// The error for bytes that are not valid protobuf: "malformed protobuf: <why>".
base::Error Malformed(std::string_view why);

inline bool IsEnveloped(std::string_view bytes) { return bytes.starts_with(kMagic); }

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view object;  // the object's own message
};

// Returns views into `bytes`, which must outlive them. Errors: kMalformed.
base::Result<Envelope> Open(std::string_view bytes);

struct WatchFrame {
  std::string_view type;  // "ADDED"
  Envelope object;
};

// Opens the message of one watch frame, without its length. Lifetime and errors as in Open().
base::Result<WatchFrame> OpenWatchFrame(std::string_view bytes);

// Returns the Status in `bytes` as the server would have sent it in JSON; nullopt if it is not one.
std::optional<std::string> StatusAsJson(std::string_view bytes);

}  // namespace protobuf
