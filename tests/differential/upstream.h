#pragma once

// The program that answers as upstream's own quota code does (upstream/main.go), asked over pipes:
// one JSON question a line, one JSON answer a line.
//
// A question about an object:
//   {"object": {…}, "now": "2024-05-01T10:00:00Z", "names": […], "limited": […],
//    "selectors": [{scopeName, …}]}
//   {"usage": {name: amount}, "owned": [of the names], "matched": ["yes" | "no" | "error"],
//    "missing": "must specify …", what the object lacks where those names are limited, or "",
//    "served": {"json": {…}, "protobuf": "0a…"}, the object in both forms in which it is sent, and,
//      where it has several versions, "versions": {"v1beta1": {…}}}
// or about a request, in a namespace with these quotas (without "old": a CREATE):
//   {"quotas": […], "object": {…}, "old": {…}, "subresource": "resize", "now": "…"}
//   {"handled": whether the plugin is concerned, "refusal": "pods \"p\" is forbidden: …" or "",
//    "used": {quota: {name: amount}}, after the request}
// or about the usage of claims beside the pods that they were made for:
//   {"pods": […], "claims": […]}
//   {"sum": {name: amount}}
// or about two quantities:
//   {"left": "1Gi", "right": "500m", "times": 3}
//   {"leftError", "rightError", "left", "right", "sum", "difference", "product", "wholeUp",
//    "milliUp": amount, "order": -1 | 0 | 1}
// or about an object that a tool waits for, as kstatus sees it:
//   {"waiting": {…}}
//   {"waiting": "Current" | "InProgress" | "Failed", "message": "…"}
// where an amount is {"nanos": "1000000000", "format": "DecimalSI", "text": "1"}; or, where
// upstream refuses, {"error": "…"}.
//
// One thread. If the program ends or answers with something else, an exception ends the test.

#include <sys/types.h>

#include <string>
#include <vector>

#include "pkg/json/value.h"

namespace differential {

class Upstream {
 public:
  explicit Upstream(const std::string& program);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  // One answer for each question.
  std::vector<json::Value> Ask(const std::vector<std::string>& questions);

 private:
  std::string ReadLine();

  pid_t process_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string unread_;
  std::size_t read_ = 0;
};

}  // namespace differential
