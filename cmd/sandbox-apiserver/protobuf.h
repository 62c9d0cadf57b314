#pragma once

// Reads the protobuf bodies that kubectl's typed commands send (`kubectl create quota`, `create
// namespace`, `auth can-i` …; apimachinery v0.36.3, pkg/runtime/serializer/protobuf): they have no
// fallback to JSON. Answers are always JSON, which the same clients accept.
//
// It knows the kinds that these commands create, and their fields. An unknown field is an error, so
// nothing is lost silently. Pure; any thread.

#include <string_view>

#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace sandbox {

// The object in an envelope ("k8s\0", runtime.Unknown), with kind and apiVersion. Errors:
// kMalformed for broken bytes, kInvalidArgument for a kind or a field that is not known.
base::Result<json::Value> DecodeProtobuf(std::string_view body);

}  // namespace sandbox
