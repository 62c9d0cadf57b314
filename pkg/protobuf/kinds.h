#pragma once

// The kinds that are read as protobuf. What is not here is read as JSON: custom resources have no
// other form, and of built-in kinds that only count nothing but metadata is read. Any thread.

#include "pkg/api/resource.h"
#include "pkg/protobuf/message.h"

namespace protobuf {

// The message of the collection's objects; nullptr if it is not described.
const Message* MessageOf(const api::GroupVersionResource& resource);

// metav1.PartialObjectMetadata, in which the server tells the metadata of any kind.
const Message& PartialObjectMetadata();

// metav1.ListMeta and metav1.Status.
const Message& ListMeta();
const Message& Status();

}  // namespace protobuf
