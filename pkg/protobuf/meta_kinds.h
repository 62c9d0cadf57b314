#pragma once

// Messages of k8s.io.apimachinery.pkg.apis.meta.v1 that are part of many kinds. Private to this
// folder.

#include "pkg/protobuf/message.h"

namespace protobuf {

extern const Message kObjectMeta;
extern const Message kLabelSelector;

}  // namespace protobuf
