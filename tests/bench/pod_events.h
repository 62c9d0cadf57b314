#pragma once

// Watch events of one pod of some 5 kB, in both formats of an API server, and the list of many
// small pods.

#include <string>

namespace bench {

// A change of the sample pod (tests/pkg/admission/sample_reviews.h): both its containers request
// this much CPU.
std::string JsonEvent(const std::string& cpu, int version);
std::string ProtobufEvent(const std::string& cpu, int version);

// The sample pod as a message, with the number in its uid. It belongs to one of ten workloads, and
// each version belongs to the next workload.
std::string ProtobufPod(int number, int version);
// The same in another namespace, whose name also has six letters.
std::string ProtobufPodIn(const std::string& ns, int number, int version);

// A list of pods "p0" …, of so many workloads, each with another size, and reduced to what is
// counted, and the event by which the first of them changes.
std::string ListOfSmallPods(int pods, int workloads = 10);
std::string SmallPodEvent(const std::string& cpu, int version,
                          const std::string& type = "MODIFIED");
// Of the first of them.
inline constexpr const char* kSmallPodUid = "0c1a0b86-5f5c-4f0f-8d5f-000000000000";

}  // namespace bench
