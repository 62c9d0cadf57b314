#pragma once

// Fills a namespace with pods of ten workloads, each about as large as pods of real clusters are.

#include <functional>
#include <string>

#include "tests/e2e/harness/api.h"

namespace bench {

// The quota of seven names that the pods are counted by.
json::Value QuotaOfSevenNames();

// Pod "p<index>", as a client sends it.
std::string PodJson(int index);

// Creates what these give for an index.
using Maker = std::function<client::ApiRequest(int index)>;
void CreateAll(e2e::Api& api, int from, int to, const Maker& maker);

// Creates pods "p<from>" to "p<to - 1>"; returns how many a second it made.
double Fill(e2e::Api& api, const std::string& ns, int from, int to);

}  // namespace bench
