// Tests the layers of the tree. The linker alone does not enforce them: a header of a higher folder
// without symbols links without an error.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/source_dir.h"

namespace layers_test {

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;    // the including file, from the root of the tree
  std::string folder;  // of that file, as in kBelow
  std::string target;  // the included path, as written
};

// The longest folder of kBelow that contains the file; a program of its own otherwise:
// "pkg/quota/core" for "pkg/quota/core/evaluators/pods.cc", "cmd/quickstart".
std::string FolderOf(const std::string& path);

std::vector<Include> AllIncludes() {
  const fs::path root = tests::SourcePath("");
  const std::regex line_form("#\\s*include\\s*[\"<]([^\">]+)[\">].*");
  std::vector<Include> includes;
  for (const char* top : {"pkg", "informers", "controllers", "cmd"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".h" && path.extension() != ".cc") continue;
      const std::string file = path.lexically_relative(root).string();
      std::ifstream stream(path);
      std::smatch match;
      for (std::string line; std::getline(stream, line);) {
        if (std::regex_match(line, match, line_form)) {
          includes.push_back({file, FolderOf(file), match[1]});
        }
      }
    }
  }
  return includes;
}

// The folders that each folder may include, besides itself.
const std::map<std::string, std::set<std::string>> kBelow = {
    {"pkg/base", {}},
    {"pkg/json", {"pkg/base"}},
    {"pkg/quantity", {"pkg/base"}},
    {"pkg/api", {"pkg/base", "pkg/json"}},
    {"pkg/logging", {"pkg/base", "pkg/json", "pkg/api"}},
    {"pkg/config", {"pkg/base", "pkg/json"}},
    {"pkg/http", {"pkg/base"}},
    {"pkg/queue", {"pkg/base"}},
    {"pkg/heap", {}},
    {"pkg/metrics", {"pkg/base"}},
    {"pkg/quota", {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api"}},
    {"pkg/quota/core", {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/quota"}},
    {"pkg/quota/cluster",
     {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/quota", "pkg/quota/core"}},
    {"pkg/quota/defined",
     {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/quota", "pkg/quota/core"}},
    {"pkg/quota/ironcore",
     {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/config", "pkg/quota"}},
    {"pkg/quota/karmada", {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/quota"}},
    {"pkg/accounting", {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/quota"}},
    {"pkg/inspect",
     {"pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/config", "pkg/quota",
      "pkg/quota/core", "pkg/quota/cluster"}},
    {"pkg/debug", {"pkg/base", "pkg/json", "pkg/http", "pkg/metrics", "pkg/queue"}},
    {"pkg/protobuf", {"pkg/base", "pkg/json", "pkg/api"}},
    {"pkg/client", {"pkg/base", "pkg/json", "pkg/api", "pkg/protobuf", "pkg/config", "pkg/http"}},
    {"pkg/leader", {"pkg/base", "pkg/json", "pkg/api", "pkg/client"}},
    {"informers",
     {"pkg/base", "pkg/json", "pkg/api", "pkg/protobuf", "pkg/http", "pkg/client", "pkg/metrics"}},
    {"pkg/admission",
     {"pkg/accounting", "pkg/base", "pkg/json", "pkg/api", "pkg/client", "pkg/quota"}},
    {"pkg/webhook",
     {"informers", "pkg/admission", "pkg/base", "pkg/json", "pkg/api", "pkg/http", "pkg/client",
      "pkg/quota", "pkg/quota/cluster"}},
    {"controllers/usage",
     {"informers", "pkg/accounting", "pkg/admission", "pkg/base", "pkg/json", "pkg/api",
      "pkg/client", "pkg/queue", "pkg/quota", "pkg/quota/cluster", "pkg/metrics"}},
    {"controllers/quota/base",
     {"informers", "pkg/accounting", "pkg/admission", "pkg/base", "pkg/json", "pkg/api",
      "pkg/client", "pkg/queue", "pkg/quota", "pkg/quota/cluster", "pkg/metrics",
      "controllers/usage"}},
    {"controllers/quota/events",
     {"informers", "pkg/accounting", "pkg/admission", "pkg/base", "pkg/json", "pkg/api",
      "pkg/client", "pkg/queue", "pkg/quota", "pkg/quota/cluster", "pkg/metrics",
      "controllers/usage", "controllers/quota/base"}},
    {"controllers/quota/cluster",
     {"informers", "pkg/accounting", "pkg/admission", "pkg/base", "pkg/json", "pkg/api",
      "pkg/client", "pkg/queue", "pkg/quota", "pkg/quota/cluster", "pkg/metrics",
      "controllers/usage", "controllers/quota/base", "controllers/quota/events"}},
    {"controllers/quota",
     {"informers", "pkg/accounting", "pkg/admission", "pkg/base", "pkg/json", "pkg/api",
      "pkg/client", "pkg/queue", "pkg/quota", "pkg/quota/cluster", "pkg/metrics",
      "controllers/usage", "controllers/quota/base", "controllers/quota/events",
      "controllers/quota/cluster"}},
    {"controllers/applied",
     {"informers", "pkg/accounting", "pkg/admission", "pkg/base", "pkg/json", "pkg/api",
      "pkg/client", "pkg/queue", "pkg/quota", "pkg/quota/cluster", "pkg/metrics",
      "controllers/usage", "controllers/quota/base", "controllers/quota/events",
      "controllers/quota/cluster", "controllers/quota"}},
    {"controllers/definitions",
     {"informers", "pkg/accounting", "pkg/admission", "pkg/base", "pkg/json", "pkg/api",
      "pkg/client", "pkg/queue", "pkg/quota", "pkg/quota/cluster", "pkg/quota/defined",
      "pkg/metrics", "controllers/usage", "controllers/quota/base", "controllers/quota/events"}},
    {"cmd/command_line", {"pkg/base"}},
    {"cmd/sandbox-apiserver",
     {"cmd/command_line", "pkg/base", "pkg/json", "pkg/quantity", "pkg/api", "pkg/config",
      "pkg/http"}},
};

std::string FolderOf(const std::string& path) {
  for (std::size_t end = path.rfind('/'); end != std::string::npos;
       end = path.rfind('/', end - 1)) {
    std::string folder = path.substr(0, end);
    if (kBelow.contains(folder)) return folder;
  }
  return path.substr(0, path.find('/', path.find('/') + 1));
}

// The programs that may include every library.
const std::set<std::string> kPrograms = {"cmd/kubectl-quota", "cmd/quickstart",
                                         "cmd/quota-controller-manager"};

// The folders in which a library's headers may be included.
const std::map<std::string, std::set<std::string>> kAdapters = {
    {"rapidjson/", {"pkg/json"}},
    {"yaml-cpp/", {"pkg/config"}},
    {"boost/beast", {"pkg/http"}},
    {"openssl/", {"pkg/http"}},
    {"boost/asio/ssl", {"pkg/http"}},
    {"prometheus/", {"pkg/metrics"}},
    {"gflags/",
     {"cmd/command_line", "cmd/quickstart", "cmd/quota-controller-manager",
      "cmd/sandbox-apiserver"}},
    {"CLI/", {"cmd/kubectl-quota"}},
    {"zlib.h", {"pkg/http"}},
    {"protozero/", {"pkg/protobuf"}},
    {"jemalloc/", {"pkg/heap"}},
};

const std::set<std::string> kWithoutAsio = {
    "pkg/json",    "pkg/quantity", "pkg/api",     "pkg/quota",   "pkg/config",
    "pkg/metrics", "pkg/protobuf", "pkg/inspect", "pkg/logging", "pkg/accounting"};

bool IsOurs(const std::string& target) {
  return target.starts_with("pkg/") || target.starts_with("informers/") ||
         target.starts_with("controllers/") || target.starts_with("cmd/") ||
         target.starts_with("tests/");
}

}  // namespace

TEST_CASE("layers: a folder includes only folders below it", "[layers]") {
  std::size_t checked = 0;
  for (const Include& include : AllIncludes()) {
    if (!IsOurs(include.target) || kPrograms.contains(include.folder)) continue;
    const std::string target = FolderOf(include.target);
    if (target == include.folder) continue;
    INFO(include.file << " includes " << include.target);
    const auto allowed = kBelow.find(include.folder);
    REQUIRE(allowed != kBelow.end());
    CHECK(allowed->second.contains(target));
    ++checked;
  }
  CHECK(checked > 100);
}

TEST_CASE("layers: a program includes no other program", "[layers]") {
  for (const Include& include : AllIncludes()) {
    if (!kPrograms.contains(include.folder) || !include.target.starts_with("cmd/")) continue;
    const std::string target = FolderOf(include.target);
    INFO(include.file << " includes " << include.target);
    CHECK((target == include.folder || target == "cmd/command_line"));
  }
}

TEST_CASE("layers: only tests include tests", "[layers]") {
  for (const Include& include : AllIncludes()) {
    INFO(include.file << " includes " << include.target);
    CHECK_FALSE(include.target.starts_with("tests/"));
  }
}

TEST_CASE("layers: a library is used in the one folder that adapts it", "[layers]") {
  for (const Include& include : AllIncludes()) {
    for (const auto& [prefix, folders] : kAdapters) {
      if (!include.target.starts_with(prefix)) continue;
      INFO(include.file << " includes " << include.target);
      CHECK(folders.contains(include.folder));
    }
  }
}

// So tests/run.sh uses the thread sanitizer only for what can meet the thread of Asio's resolver.
TEST_CASE("layers: no shipped code starts a thread or shares state between threads", "[layers]") {
  const std::set<std::string> headers = {"thread",    "mutex",      "shared_mutex",
                                         "future",    "semaphore",  "condition_variable",
                                         "pthread.h", "threads.h",  "boost/asio/thread.hpp",
                                         "latch",     "stop_token", "boost/asio/thread_pool.hpp"};
  for (const Include& include : AllIncludes()) {
    INFO(include.file << " includes " << include.target);
    CHECK_FALSE(headers.contains(include.target));
  }
}

TEST_CASE("layers: values and arithmetic do not use I/O", "[layers]") {
  for (const Include& include : AllIncludes()) {
    if (!kWithoutAsio.contains(include.folder)) continue;
    INFO(include.file << " includes " << include.target);
    CHECK_FALSE(include.target.starts_with("boost/asio"));
    CHECK(include.target != "pkg/base/asio.h");
    CHECK(include.target != "pkg/base/scheduler.h");
  }
}

TEST_CASE("layers: headers do not include the log library", "[layers]") {
  for (const Include& include : AllIncludes()) {
    if (!include.file.ends_with(".h")) continue;
    INFO(include.file << " includes " << include.target);
    CHECK_FALSE(include.target.starts_with("glog/"));
  }
}

}  // namespace layers_test
