#pragma once

// Custom objects of about 20 kB, as a PaperCluster makes them up: a Deployment-like spec with
// lists, managedFields, a last applied configuration and a status with conditions; and the
// UsageDefinition of each kind. Pure functions; any thread.

#include <string>

#include "pkg/json/value.h"

namespace bench {

// So many kinds with so many objects each (a multiple of ten), which are in the namespaces in turn.
struct PaperKinds {
  int kinds = 0;
  int objects = 0;
};

inline constexpr const char* kPaperGroup = "bench.example";
// A cluster-scoped resource, which has the amount of one name of each kind.
inline constexpr const char* kPaperClasses = "classes";
inline constexpr int kClasses = 3;

// Its name: t00000, t00001 and so on.
std::string PaperNamespace(int number);

// The resource, such as "k042".
std::string PaperKind(int kind);
std::string PaperDefinitionName(int kind);
// The spec. Four names, each "k042.bench.example/<what>": storage (a path), cpu (the elements of a
// list, times the replicas of each), backup (a default) and iops (of a class); and one scope.
json::Value PaperDefinition(int kind);
std::string PaperName(int kind, const std::string& what);
// What all objects of a kind use. Events have changed the storage of `changed` of them, the first.
std::string PaperStorage(const PaperKinds& kinds, int changed);
std::string PaperIops(const PaperKinds& kinds);

// The body for /apis.
std::string DiscoveryOf(const PaperKinds& kinds);
// One page of the objects of a kind, or of the classes.
std::string ObjectsAsJson(const std::string& resource, int from, int end, int count,
                          int namespaces);
// A watch event that changes the storage of the object.
std::string PaperObjectEvent(int kind, int number, int namespaces, int version);

}  // namespace bench
