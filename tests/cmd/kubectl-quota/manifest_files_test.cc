#include "cmd/kubectl-quota/manifest_files.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "cmd/kubectl-quota/did_you_mean.h"
#include "pkg/api/object_meta.h"
#include "tests/cmd/kubectl-quota/canned_server.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace manifest_files_test {

using Catch::Matchers::Contains;
using kubectl_quota::ReadFiles;
using kubectl_quota_tests::CannedServer;
using kubectl_quota_tests::Plugin;

std::string ConfigMap(const std::string& name) {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: '" + name + "'}}\n";
}

// A folder with files, a folder in it, and what kubectl skips.
class Tree {
 public:
  Tree() {
    for (const char* file : {"b.yaml", "a.yml", "c.json", "d.txt", "m/n/x.yaml", "m/y.yaml"}) {
      Write(file);
    }
    std::filesystem::create_directory_symlink("..", root + "/m/loop");
    std::filesystem::create_directory(root + "/folder.yaml");
  }
  void Write(const std::string& file) const {
    const std::filesystem::path path = root + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << ConfigMap(path.stem());
  }
  // The names of what is read, or the error.
  static std::string Names(const std::string& path, bool recursive = false) {
    const auto manifests = ReadFiles({path}, recursive);
    if (!manifests) return manifests.error().message;
    std::string names;
    for (const auto& manifest : *manifests) names += std::string(api::Name(manifest.object)) + " ";
    return names;
  }
  Plugin plugin;
  std::string root = plugin.File("tree", "") + "s";
};

TEST_CASE("manifest files: a folder has its own files, and with -R those in its folders",
          "[kubectl-quota]") {
  const Tree tree;
  CHECK(Tree::Names(tree.root) == "a b c ");
  CHECK(Tree::Names(tree.root, true) == "a b c x y ");
  CHECK(Tree::Names(tree.root + "/m/n", true) == "x ");
  CHECK(Tree::Names(tree.root + "/d.txt") == "d ");
  std::filesystem::remove(tree.root + "/m/y.yaml");
  CHECK_THAT(Tree::Names(tree.root + "/m"), Contains("no .yaml, .yml or .json file in ") &&
                                                Contains("; -R also reads the folders in it"));
  CHECK_THAT(Tree::Names(tree.root + "/folder.yaml"), !Contains("-R"));
}

TEST_CASE("manifest files: a pattern is expanded if no file has that name", "[kubectl-quota]") {
  const Tree tree;
  std::filesystem::remove(tree.root + "/folder.yaml");
  CHECK(Tree::Names(tree.root + "/*.y*ml") == "a b ");
  CHECK(Tree::Names(tree.root + "/[bc].*") == "b c ");
  CHECK_THAT(Tree::Names(tree.root + "/*.toml"), Contains("No such file or directory"));
  tree.Write("[bc].yaml");
  CHECK(Tree::Names(tree.root + "/[bc].yaml") == "[bc] ");
}

// The text in UTF-16, with a byte order mark.
std::string Wide(const std::u16string& text, bool little_endian) {
  std::string bytes;
  for (const char16_t unit : u"\uFEFF" + text) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    bytes += little_endian ? low : high;
    bytes += little_endian ? high : low;
  }
  return bytes;
}

TEST_CASE("manifest files: UTF-16 and UTF-8 with a byte order mark are read as by kubectl",
          "[kubectl-quota]") {
  const Plugin plugin;
  const std::u16string map = u"{apiVersion: v1, kind: ConfigMap, metadata: {name: ";
  const std::u16string two =
      map + u"a, labels: {l: \"\u00e9\U0001F600\"}}}\r\n---\r\n" + map + u"b}}";
  for (const bool little_endian : {true, false}) {
    const std::string path = plugin.File("wide.yaml", Wide(two, little_endian));
    CHECK(Tree::Names(path) == "a b ");
    const auto read = ReadFiles({path});
    REQUIRE(read.has_value());
    CHECK(read->front().object.StringAt({"metadata", "labels", "l"}) == "\u00e9\U0001F600");
  }
  CHECK(Tree::Names(plugin.File("mark.yaml", "\xEF\xBB\xBF" + ConfigMap("m"))) == "m ");
  // Half of a surrogate pair, and half of a unit at the end.
  std::u16string broken = map + u"a, labels: {l: '?'}}}";
  broken[broken.find(u'?')] = 0xD83D;
  const auto read = ReadFiles({plugin.File("broken.yaml", Wide(broken, true))});
  REQUIRE(read.has_value());
  CHECK(read->front().object.StringAt({"metadata", "labels", "l"}) == "\uFFFD");
  CHECK(Tree::Names(plugin.File("odd.yaml", Wide(map + u"a}} #", true) + "x")) == "a ");
}

TEST_CASE("manifest files: the error of another encoding names the file and the encoding",
          "[kubectl-quota]") {
  const Plugin plugin;
  const std::u16string map = u"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
  const std::string hint =
      ": neither UTF-8 nor UTF-16 with a byte order mark, because it has zero bytes: save it as "
      "UTF-8";
  for (const bool little_endian : {true, false}) {
    const std::string path = plugin.File("bare.yaml", Wide(map, little_endian).substr(2));
    CHECK(Tree::Names(path) == path + hint);
  }
  const std::string path = plugin.File("utf32.yaml", std::string("\xFF\xFE\0\0{\0\0\0}\0\0\0", 12));
  CHECK(Tree::Names(path) == path + hint);
  CHECK_THAT(Tree::Names(plugin.File("latin1.yaml", "# \xE9\n" + ConfigMap("a"))),
             Contains("latin1.yaml: ") && Contains("line 1: not UTF-8"));
}

TEST_CASE("manifest files: a URL is a file", "[kubectl-quota]") {
  const std::string body = ConfigMap("far");
  CannedServer server(
      {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body});
  CHECK(Tree::Names(server.Url("/x")) == "far ");
}

TEST_CASE("did you mean: the nearest word within two letters", "[kubectl-quota]") {
  const std::vector<std::string> known{"check", "tree", "top", "--namespace", "deploy"};
  using kubectl_quota::DidYouMean;
  CHECK(DidYouMean("chekc", known) == "; did you mean \"check\"?");
  CHECK(DidYouMean("tpo", known) == "; did you mean \"top\"?");
  CHECK(DidYouMean("tre", known) == "; did you mean \"tree\"?");
  CHECK(DidYouMean("depoly", known) == "; did you mean \"deploy\"?");
  CHECK(DidYouMean("--nmaspace", known) == "; did you mean \"--namespace\"?");
  CHECK(DidYouMean("to", known).empty());
  CHECK(DidYouMean("frobnicate", known).empty());
  CHECK(DidYouMean(std::string(100'000, 'x'), known).empty());
}

}  // namespace manifest_files_test
