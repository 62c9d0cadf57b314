// Runs every input of the corpus through its target in every build, so that what fuzzing found once
// stays fixed.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "pkg/json/value.h"
#include "tests/bench/counted.h"
#include "tests/fuzz/growth.h"
#include "tests/fuzz/target.h"
#include "tests/source_dir.h"

namespace fuzz::regression_test {
namespace {

namespace fs = std::filesystem;

// The sizes of grown inputs. In the large one, a search through all members costs more than all
// else.
constexpr std::size_t kSmall = std::size_t{3} * 1024;
constexpr std::size_t kLarge = std::size_t{32} * 1024;
constexpr std::size_t kMostPlaces = 6;

const fs::path kCorpus = tests::SourcePath("/tests/fuzz/corpus");

std::vector<fs::path> FilesOf(const Target& target) {
  std::vector<fs::path> files;
  if (fs::is_directory(kCorpus / target.name)) {
    for (const auto& entry : fs::directory_iterator(kCorpus / target.name)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Nothing follows the last byte in memory, as with libFuzzer.
std::vector<char> BytesOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  bytes.shrink_to_fit();
  return bytes;
}

std::string WhatBreaks(const Target& target, std::string_view input) {
  try {
    target.run(input);
    return "";
  } catch (const Broken& broken) {
    return broken.what();
  }
}

// Grows the inputs, which have names, and counts both sizes of each.
void CountGrown(const Target& target, const std::map<std::string, std::string>& inputs) {
  std::map<std::string, std::string> names;  // of an input, by its place
  for (const auto& [name, text] : inputs) {
    for (const Grown& grown : Grow(text, 1)) names.emplace(grown.place, name);
  }
  std::size_t number = 0;
  for (const auto& [place, name] : names) {
    // Evenly chosen from all.
    if (number++ * kMostPlaces % names.size() >= kMostPlaces) continue;
    bool warm = false;
    for (const std::size_t size : {kSmall, kLarge}) {
      for (const Grown& grown : Grow(inputs.at(name), size, place)) {
        INFO(name << " grown in " << place);
        if (!std::exchange(warm, true)) CHECK(WhatBreaks(target, grown.text) == "");
        bench::Counted([&] { CHECK(WhatBreaks(target, grown.text) == ""); });
        std::printf("COUNTED %zu %s %s\n", grown.text.size(), name.c_str(), place.c_str());
      }
    }
  }
}

// Searches all members for each member, as no decoder may.
void FindEach(std::string_view input) {
  const auto value = json::Parse(input);
  Require(value && value->IsObject(), "an object");
  for (const auto& [name, member] : *value->AsObject()) {
    Require(value->AsObject()->Contains(name), "each member is found");
  }
}

// complexity.sh must find it slow.
constexpr Target kQuadratic{.name = "quadratic", .run = FindEach};

TEST_CASE("fuzz: every input of the corpus keeps what its target promises", "[fuzz]") {
  for (const Target& target : Targets()) {
    for (const fs::path& file : FilesOf(target)) {
      INFO(file);
      const std::vector<char> bytes = BytesOf(file);
      CHECK(WhatBreaks(target, {bytes.data(), bytes.size()}) == "");
    }
  }
}

TEST_CASE("fuzz: targets accept an empty input", "[fuzz]") {
  for (const Target& target : Targets()) {
    INFO(target.name);
    CHECK(WhatBreaks(target, {}) == "");
  }
}

TEST_CASE("fuzz: every target has a corpus, and every corpus a target", "[fuzz]") {
  std::set<std::string> names;
  for (const Target& target : Targets()) names.insert(target.name);
  CHECK(names.size() == Targets().size());
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(kCorpus)) folders.insert(entry.path().filename());
  CHECK(names == folders);
}

// For complexity.sh, which counts the instructions of each run. Prints a line for each.
TEST_CASE("fuzz: grown inputs of one target", "[.complexity]") {
  const char* const variable = std::getenv("QCM_FUZZ_TARGET");
  const std::string wanted = variable != nullptr ? variable : "";
  if (wanted == kQuadratic.name) return CountGrown(kQuadratic, {{"written", R"({"a":1})"}});
  const auto target = std::ranges::find(Targets(), wanted, &Target::name);
  REQUIRE(target != Targets().end());
  std::map<std::string, std::string> inputs;
  for (const fs::path& file : FilesOf(*target)) {
    const std::vector<char> bytes = BytesOf(file);
    inputs.emplace(file.filename(), std::string(bytes.begin(), bytes.end()));
  }
  CountGrown(*target, inputs);
}

TEST_CASE("fuzz: inputs grow in each place", "[fuzz]") {
  const auto places = [](std::string_view input) {
    std::string all;
    for (const Grown& grown : Grow(input, 50)) all += grown.place + " ";
    return all;
  };
  CHECK(places(R"({"a":{"b":[{"name":"c"}]}})") == "1: 1:a 1:a.b 1:a.b[] ");
  CHECK(places("x") == "1:whole 1:byte ");
  CHECK(places("x\n\n====\n[1]") == "1:whole 1:byte 1:lines 2: ");
  CHECK(Grow(R"({"a":"b"})", 20).front().text == R"({"a":"b","a0":"b","a1":"b"})");
  CHECK(Grow(R"([{"name":"b"}])", 20).front().text == R"([{"name":"b"},{"name":"b0"}])");
  CHECK(Grow("10", 5)[1].text == "1000000");
  const auto only = Grow("x\n\n====\n[1]", 50, "1:byte");
  REQUIRE(only.size() == 1);
  CHECK(only.front().place == "1:byte");
}

TEST_CASE("fuzz: a broken promise is reported", "[fuzz]") {
  const Target broken{"broken", [](std::string_view input) { Require(input != "x", "no x"); }};
  CHECK(WhatBreaks(broken, "y") == "");
  CHECK(WhatBreaks(broken, "x") == "no x");
  const auto cut = Parts("a\n====\nb\n====\nc", 2);
  CHECK(cut == std::vector<std::string_view>{"a", "b\n====\nc"});
  CHECK(Parts("a", 3) == std::vector<std::string_view>{"a", "", ""});
}

}  // namespace
}  // namespace fuzz::regression_test
