// Runs every input of the corpus through its target in every build, so that what fuzzing found once
// stays fixed.

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/fuzz/target.h"
#include "tests/source_dir.h"

namespace fuzz::regression_test {
namespace {

namespace fs = std::filesystem;

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
