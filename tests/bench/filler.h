#pragma once

// Fills a namespace with pods of ten workloads, each about as large as pods of real clusters are.

#include <string>

#include "tests/e2e/harness/api.h"

namespace bench {

// The quota of seven names that the pods are counted by.
json::Value QuotaOfSevenNames();

// Pod "p<index>", as a client sends it.
std::string PodJson(int index);

// Creates pods "p<from>" to "p<to - 1>"; returns how many a second it made.
double Fill(e2e::Api& api, const std::string& ns, int from, int to);

}  // namespace bench
