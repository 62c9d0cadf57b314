#include "pkg/protobuf/meta_kinds.h"

#include "pkg/protobuf/kinds.h"

namespace protobuf {
namespace {

using enum FieldType;

constexpr Field kOwnerReferenceFields[] = {
    {1, "kind"},
    {3, "name"},
    {4, "uid"},
    {5, "apiVersion"},
    {6, "controller", kBool, nullptr, false, true},
    {7, "blockOwnerDeletion", kBool, nullptr, false, true},
};
constexpr Message kOwnerReference{"OwnerReference", kOwnerReferenceFields, true};

constexpr Field kObjectMetaFields[] = {
    {1, "name"},
    {2, "generateName"},
    {3, "namespace"},
    {5, "uid"},
    {6, "resourceVersion"},
    {7, "generation", kInteger},
    {8, "creationTimestamp", kTime},
    {9, "deletionTimestamp", kTime, nullptr, false, true},
    {10, "deletionGracePeriodSeconds", kInteger, nullptr, false, true},
    {11, "labels", kStringMap},
    {12, "annotations", kStringMap},
    {13, "ownerReferences", kMessage, &kOwnerReference, true},
    {14, "finalizers", kString, nullptr, true},
};

constexpr Field kRequirementFields[] = {
    {1, "key"},
    {2, "operator"},
    {3, "values", kString, nullptr, true},
};
constexpr Message kRequirement{"LabelSelectorRequirement", kRequirementFields, true};

constexpr Field kLabelSelectorFields[] = {
    {1, "matchLabels", kStringMap},
    {2, "matchExpressions", kMessage, &kRequirement, true},
};

constexpr Field kPartialFields[] = {{1, "metadata", kMessage, &kObjectMeta}};
constexpr Message kPartial{"PartialObjectMetadata", kPartialFields, false};

constexpr Field kListMetaFields[] = {
    {2, "resourceVersion"},
    {3, "continue"},
    {4, "remainingItemCount", kInteger, nullptr, false, true},
};
constexpr Message kListMeta{"ListMeta", kListMetaFields, true};

constexpr Field kStatusCauseFields[] = {{1, "reason"}, {2, "message"}, {3, "field"}};
constexpr Message kStatusCause{"StatusCause", kStatusCauseFields, true};

constexpr Field kStatusDetailsFields[] = {
    {1, "name"},
    {2, "group"},
    {3, "kind"},
    {4, "causes", kMessage, &kStatusCause, true},
    {5, "retryAfterSeconds", kInteger},
    {6, "uid"},
};
constexpr Message kStatusDetails{"StatusDetails", kStatusDetailsFields, true};

constexpr Field kStatusFields[] = {
    {1, "metadata", kMessage, &kListMeta},     {2, "status"},         {3, "message"}, {4, "reason"},
    {5, "details", kMessage, &kStatusDetails}, {6, "code", kInteger},
};
constexpr Message kStatus{"Status", kStatusFields, true};

}  // namespace

// selfLink and managedFields are left out: nobody reads them.
constinit const Message kObjectMeta{"ObjectMeta", kObjectMetaFields, false};
constinit const Message kLabelSelector{"LabelSelector", kLabelSelectorFields, true};

const Message& PartialObjectMetadata() { return kPartial; }
const Message& ListMeta() { return kListMeta; }
const Message& Status() { return kStatus; }

}  // namespace protobuf
