#pragma once

// The kinds that are read as protobuf. All others are read as JSON: custom resources have no other
// form, and of most built-in kinds only the metadata is read. Any thread.

#include "pkg/api/resource.h"
#include "pkg/protobuf/message.h"

namespace protobuf {

// The message of the collection's objects; nullptr if it is not described here.
const Message* MessageOf(const api::GroupVersionResource& resource);

// metav1.PartialObjectMetadata: the form of metadata-only answers for any kind.
const Message& PartialObjectMetadata();

// metav1.ListMeta and metav1.Status.
const Message& ListMeta();
const Message& Status();

}  // namespace protobuf
