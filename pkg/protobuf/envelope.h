#pragma once

// How Kubernetes wraps protobuf (apimachinery v0.36.3, pkg/runtime/serializer/protobuf): four bytes
// of magic, then a message that names apiVersion and kind and holds the object's own bytes. Frames
// of a watch hold their object so, too. No I/O; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace protobuf {

inline constexpr std::string_view kMediaType = "application/vnd.kubernetes.protobuf";
inline constexpr std::string_view kMagic{"k8s\0", 4};

// The error of bytes that are not what protobuf demands: "malformed protobuf: <why>".
base::Error Malformed(std::string_view why);

inline bool IsEnveloped(std::string_view bytes) { return bytes.starts_with(kMagic); }

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view object;  // the object's own message
};

// Views into `bytes`, which outlive the result. Errors: kMalformed.
base::Result<Envelope> Open(std::string_view bytes);

struct WatchFrame {
  std::string_view type;  // "ADDED"
  Envelope object;
};

// The message of one frame of a watch, without its length. As Open().
base::Result<WatchFrame> OpenWatchFrame(std::string_view bytes);

// The Status in `bytes` as the JSON that the server would have sent; nullopt if it is none.
std::optional<std::string> StatusAsJson(std::string_view bytes);

}  // namespace protobuf
