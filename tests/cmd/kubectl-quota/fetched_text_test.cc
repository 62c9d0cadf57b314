#include "cmd/kubectl-quota/fetched_text.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cmd/kubectl-quota/canned_server.h"
#include "tests/cmd/kubectl-quota/plugin.h"

namespace fetched_text_test {

using Catch::Matchers::Contains;
using kubectl_quota::Download;
using kubectl_quota::Kustomize;
using kubectl_quota_tests::CannedServer;
using kubectl_quota_tests::Plugin;

std::string Answer(const std::string& status, const std::string& body,
                   const std::string& header = "") {
  return "HTTP/1.1 " + status + "\r\n" + header + "Content-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

std::string Moved(const std::string& location) {
  return Answer("302 Found", "", "Location: " + location + "\r\n");
}

TEST_CASE("download: a page is read with its query, and without credentials of the cluster",
          "[kubectl-quota]") {
  CannedServer server({Answer("200 OK", "kind: X")});
  CHECK(Download(server.Url("/a/b%20c.yaml?ref=1&x=ä#part")).value() == "kind: X");
  const std::string asked = server.Asked(0);
  CHECK_THAT(asked, Catch::StartsWith("GET /a/b%20c.yaml?ref=1&x=%C3%A4 HTTP/1.1\r\n"));
  CHECK_THAT(asked, !Contains("Authorization") && !Contains("Impersonate"));
}

TEST_CASE("download: credentials of the URL are sent, and not to where it redirects",
          "[kubectl-quota]") {
  CannedServer server({Moved("/next?x=1"), Moved("last"), Answer("200 OK", "y")});
  const std::string url = server.Url("/a/b");
  CHECK(Download("http://u:p@" + url.substr(7)).value() == "y");
  CHECK_THAT(server.Asked(0), Contains("Authorization: Basic dTpw\r\n"));
  CHECK_THAT(server.Asked(1),
             Catch::StartsWith("GET /next?x=1 HTTP/1.1") && !Contains("Authorization"));
  CHECK_THAT(server.Asked(2), Catch::StartsWith("GET /last HTTP/1.1"));
}

TEST_CASE("download: what cannot be read is an error without the password", "[kubectl-quota]") {
  const auto error = [](const std::string& url, const kubectl_quota::DownloadLimits& limits = {}) {
    const auto text = Download(url, limits);
    REQUIRE_FALSE(text.has_value());
    CHECK_THAT(text.error().message, Contains("unable to read URL \"") && !Contains("S3cr3t"));
    return text.error();
  };
  SECTION("another status") {
    CannedServer server({Answer("404 Not Found", "no")});
    CHECK_THAT(error(server.Url("/x")).message, Contains("answered with status 404"));
  }
  SECTION("endless redirections") {
    CannedServer server(std::vector<std::string>(11, Moved("/x")));
    CHECK_THAT(error(server.Url("/x")).message, Contains("redirects more than ten times"));
  }
  SECTION("a redirection to what is no page") {
    CannedServer server({Moved("file:///etc/passwd")});
    CHECK(error(server.Url("/x")).Is(base::ErrorCode::kInvalidArgument));
  }
  SECTION("too many bytes") {
    CannedServer server({Answer("200 OK", std::string(2'000, 'x'))});
    CHECK(error(server.Url("/x"), {.bytes = 1'000}).Is(base::ErrorCode::kTooLarge));
  }
  SECTION("too much time") {
    CannedServer server({""});
    CHECK(error(server.Url("/x"), {.time = std::chrono::milliseconds(50)})
              .Is(base::ErrorCode::kTimeout));
  }
  SECTION("nobody is there, and no such host") {
    error("http://u:S3cr3t@127.0.0.1:1/x");
    error("http://u:S3cr3t@h:x/");
    error("http://");
  }
}

// A program "kubectl" in front of all others on PATH.
class FakeKubectl {
 public:
  FakeKubectl(const Plugin& plugin, const std::string& script) {
    const std::filesystem::path file = plugin.File("kubectl", "#!/bin/sh\n" + script);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    ::setenv("PATH", (file.parent_path().string() + ":" + before_).c_str(), 1);
  }
  ~FakeKubectl() { ::setenv("PATH", before_.c_str(), 1); }
  FakeKubectl(const FakeKubectl&) = delete;
  FakeKubectl& operator=(const FakeKubectl&) = delete;

 private:
  std::string before_ = ::getenv("PATH");
};

TEST_CASE("kustomize: kubectl renders the folder", "[kubectl-quota]") {
  const Plugin plugin;
  SECTION("it does") {
    const FakeKubectl kubectl(plugin, "echo \"$1 $3\"; echo '# Warning: old' >&2");
    CHECK(Kustomize("some folder").value() == "kustomize some folder\n");
  }
  SECTION("it fails, and says why") {
    const FakeKubectl kubectl(plugin, "echo '# Warning: old\nerror: no kustomization' >&2; exit 1");
    CHECK(Kustomize("x").error().message ==
          "kubectl kustomize x failed with exit status 1: no kustomization");
  }
  SECTION("it is not there") {
    const std::string before = ::getenv("PATH");
    ::setenv("PATH", "/nowhere", 1);
    CHECK(Kustomize("x").error().message ==
          "-k runs \"kubectl kustomize\", and kubectl is not on PATH");
    ::setenv("PATH", before.c_str(), 1);
  }
}

}  // namespace fetched_text_test
