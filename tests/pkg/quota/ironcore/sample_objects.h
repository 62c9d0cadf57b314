#pragma once

// Classes, machines, volumes and buckets as ironcore's users write them, as JSON.

#include <string>

namespace sample {

inline constexpr const char* kSmall = R"({
  "apiVersion":"compute.ironcore.dev/v1alpha1","kind":"MachineClass",
  "metadata":{"name":"small"},"capabilities":{"cpu":"2","memory":"4Gi"}})";

inline constexpr const char* kLarge = R"({
  "apiVersion":"compute.ironcore.dev/v1alpha1","kind":"MachineClass",
  "metadata":{"name":"large"},"capabilities":{"cpu":"16","memory":"64Gi"}})";

inline constexpr const char* kWeb = R"({
  "apiVersion":"compute.ironcore.dev/v1alpha1","kind":"Machine",
  "metadata":{"name":"web-1","namespace":"team-a"},
  "spec":{"machineClassRef":{"name":"small"},"power":"On",
    "volumes":[{"name":"root","device":"oda","localDisk":{"sizeLimit":"20Gi"}}]}})";

inline constexpr const char* kData = R"({
  "apiVersion":"storage.ironcore.dev/v1alpha1","kind":"Volume",
  "metadata":{"name":"data-1","namespace":"team-a"},
  "spec":{"volumeClassRef":{"name":"fast"},"resources":{"storage":"50Gi"}}})";

// The expressions of the quotas "team-a-large-machines" and "team-a-not-fast".
inline constexpr const char* kOfLarge =
    R"([{"scopeName":"MachineClass","operator":"In","values":["large","xlarge"]}])";
inline constexpr const char* kNotFast =
    R"([{"scopeName":"VolumeClass","operator":"Exists"},
        {"scopeName":"VolumeClass","operator":"NotIn","values":["fast"]}])";

}  // namespace sample
