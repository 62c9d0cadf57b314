#pragma once

// The messages of k8s.io.apimachinery.pkg.apis.meta.v1 that those of many kinds contain. Private to
// this folder.

#include "pkg/protobuf/message.h"

namespace protobuf {

extern const Message kObjectMeta;
extern const Message kLabelSelector;

}  // namespace protobuf
