// URLs of servers and proxies, request targets, and their percent-encoding.

#include "cmd/sandbox-apiserver/request_path.h"
#include "pkg/http/message.h"
#include "tests/fuzz/target.h"

namespace {

void CheckUrl(std::string_view text) {
  const auto url = http::ParseUrl(text);
  if (!url) return;
  std::string printed = url->scheme;
  printed.append("://").append(url->Authority()).append(url->path);
  const auto again = http::ParseUrl(printed);
  fuzz::Require(again.has_value(), "a URL that was read can be written");
  fuzz::RequireSame(again->host, url->host, "the host");
  fuzz::RequireSame(again->path, url->path, "the path");
  fuzz::Require(again->port == url->port && url->port != 0, "the port");
}

void CheckComponent(std::string_view text) {
  for (const bool plus : {false, true}) {
    const auto own = http::DecodeComponent(http::EncodeComponent(text), plus);
    fuzz::Require(own.has_value() && *own == text, "any bytes can be a component");
  }
}

void CheckTarget(std::string_view text) {
  const auto target = http::ParseTarget(text);
  if (!target) return;
  for (const std::string& segment : target->segments) {
    fuzz::Require(!segment.empty(), "segments are not empty");
  }
  std::string written;
  for (const std::string& segment : target->segments) {
    written.push_back('/');
    written.append(http::EncodeComponent(segment));
  }
  if (written.empty()) written.push_back('/');
  if (!target->query.empty()) {
    written.push_back('?');
    written.append(http::EncodeQuery(target->query));
  }
  const auto again = http::ParseTarget(written);
  fuzz::Require(again.has_value() && again->segments == target->segments, "segments as written");
  fuzz::Require(again->query == target->query, "the query as written");

  const auto path = sandbox::ParseResourcePath(target->segments);
  if (!path) return;
  const std::string named = path->gvr.Path(path->ns, path->name, path->subresource);
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    const auto verb = sandbox::VerbOf(method, *path, *target);
    if (verb) fuzz::Require(!sandbox::ToString(*verb).empty(), "a verb has a name");
  }
  fuzz::Require(named.starts_with("/api"), "a resource's path is one of the API");
}

FUZZ_TARGET(url) {
  CheckUrl(input);
  CheckComponent(input);
  CheckTarget(input);
}

}  // namespace
