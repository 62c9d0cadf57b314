#include "cmd/kubectl-quota/did_you_mean.h"

#include <algorithm>
#include <cstddef>

namespace kubectl_quota {
namespace {

constexpr std::size_t kMostLetters = 64;

// Returns how many letters must be inserted, deleted, replaced or swapped with their neighbour
// (optimal string alignment).
std::size_t DistanceOf(std::string_view one, std::string_view other) {
  std::vector<std::size_t> earlier(other.size() + 1);
  std::vector<std::size_t> above(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    std::vector<std::size_t> row(other.size() + 1, i);
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped =
          i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (swapped) row[j] = std::min(row[j], earlier[j - 2] + 1);
    }
    earlier = std::move(above);
    above = std::move(row);
  }
  return above.back();
}

}  // namespace

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > kMostLetters) return "";
  std::size_t nearest = std::min<std::size_t>(2, word.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : known) {
    if (candidate.size() > kMostLetters) continue;
    const std::size_t distance = DistanceOf(word, candidate);
    if (distance == 0 || distance >= nearest) continue;
    nearest = distance;
    best = candidate;
  }
  return best.empty() ? "" : "; did you mean \"" + best + "\"?";
}

}  // namespace kubectl_quota
