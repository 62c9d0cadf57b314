#pragma once

// Reviews as a kube-apiserver writes them, in the order of its fields.

#include <string>

namespace admission::test {

// A pod of some 5 kB, as the ReplicaSet controller creates it, with defaults.
std::string PodText(const std::string& image = "registry.example/web:1");

struct SampleReview {
  std::string operation = "CREATE";
  std::string group;
  std::string resource = "pods";
  std::string subresource;
  std::string name = "web-6d4cf56db6-abcde";
  std::string object = PodText();
  std::string old_object = "null";
  bool dry_run = false;
};

std::string ReviewText(const SampleReview& review);

}  // namespace admission::test
