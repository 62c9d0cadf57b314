#pragma once

// Fills a namespace with pods of ten workloads, each about as large as in real clusters.

#include <functional>
#include <string>

#include "tests/e2e/harness/api.h"

namespace bench {

// The quota of seven names that the pods are counted by.
json::Value QuotaOfSevenNames();

// Pod "p<index>", as a client sends it.
std::string PodJson(int index);

// Sends what `maker` returns for each index, many at once; throws if one fails.
using Maker = std::function<client::ApiRequest(int index)>;
void CreateAll(e2e::Api& api, int from, int to, const Maker& maker);

// Creates pods "p<from>" to "p<to - 1>"; returns how many it created per second.
double Fill(e2e::Api& api, const std::string& ns, int from, int to);

}  // namespace bench
