#include "cmd/kubectl-quota/fetched_text.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "pkg/base/base64.h"
#include "pkg/base/task_group.h"
#include "pkg/base/text.h"
#include "pkg/client/files.h"
#include "pkg/client/process.h"
#include "pkg/client/proxy.h"
#include "pkg/http/client.h"

namespace kubectl_quota {
namespace {

using base::Error;
using base::ErrorCode;
using std::chrono::milliseconds;

constexpr int kMostRedirections = 10;
constexpr std::chrono::minutes kKustomizeTime{2};
constexpr std::size_t kKustomizeBytes = std::size_t{256} << 20;

Error CannotUse(const std::string& why) {
  return {.code = ErrorCode::kInvalidArgument, .message = why};
}

// A page of the web. The target is complete: path and query.
struct Page {
  http::Url server;
  std::string target;
};

// Returns the text with what may not stand in a request's first line as %XX.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7F) {
      escaped += c;
    } else {
      escaped += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
    }
  }
  return escaped;
}

base::Result<Page> ParsePage(std::string_view text) {
  text = text.substr(0, text.find('#'));
  const std::size_t host = std::min(text.find("://"), text.size());
  const std::size_t end = std::min(text.find_first_of("/?", host + 3), text.size());
  auto server = http::ParseUrl(text.substr(0, end));
  if (!server) return server.error();
  std::string target = Escaped(text.substr(end));
  if (!target.starts_with('/')) target.insert(0, "/");
  return Page{std::move(*server), std::move(target)};
}

// Returns the page that an answer names instead of this one.
base::Result<Page> Redirected(const Page& from, std::string_view location) {
  if (location.find("://") != std::string_view::npos) return ParsePage(location);
  if (location.starts_with("//"))
    return ParsePage(from.server.scheme + ":" + std::string(location));
  Page page = from;
  page.server.username.clear();
  page.server.password.clear();
  const std::string path = Escaped(location.substr(0, location.find('#')));
  const std::string folder = from.target.substr(0, from.target.find('?'));
  page.target = path.starts_with('/') ? path : folder.substr(0, folder.rfind('/') + 1) + path;
  return page;
}

base::Task<base::Result<http::Response>> Get(base::asio::any_io_executor executor, Page page,
                                             std::size_t bytes, milliseconds time) {
  auto proxy = client::ProxyFromEnvironment(page.server, client::ProcessEnvironment);
  if (!proxy) co_return proxy.error();
  http::ClientOptions options;
  options.server = page.server;
  options.proxy = std::move(*proxy);
  options.max_body_bytes = bytes;
  auto http = http::NewClient(executor, std::move(options));
  if (!http) co_return http.error();
  http::Request request;
  request.target = page.target;
  request.headers.Add("User-Agent", "kubectl-quota");
  request.headers.Add("Accept", "*/*");
  if (!page.server.username.empty()) {
    const std::string user = page.server.username + ":" + page.server.password;
    request.headers.Add("Authorization", "Basic " + base::EncodeBase64(user));
  }
  auto answer = co_await (*http)->Do(std::move(request), time);
  (*http)->CloseIdle();
  co_return answer;
}

bool IsRedirection(int status) {
  constexpr std::array<int, 5> kCodes{301, 302, 303, 307, 308};
  return std::ranges::find(kCodes, status) != kCodes.end();
}

base::Task<base::Result<std::string>> DownloadPage(base::asio::any_io_executor executor, Page page,
                                                   DownloadLimits limits) {
  const auto end = std::chrono::steady_clock::now() + limits.time;
  for (int hop = 0; hop <= kMostRedirections; ++hop) {
    const auto left =
        std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
    auto answer = co_await Get(executor, page, limits.bytes, std::max(left, milliseconds(1)));
    if (!answer) co_return answer.error();
    if (answer->status == 200) co_return std::move(answer->body);
    const std::string location(answer->headers.Get("Location"));
    if (!IsRedirection(answer->status) || location.empty()) {
      co_return CannotUse("the server answered with status " + std::to_string(answer->status));
    }
    auto next = Redirected(page, location);
    if (!next) co_return next.error().Wrap("redirection");
    if (page.server.scheme == "https" && next->server.scheme != "https") {
      co_return CannotUse("it redirects from https to " + next->server.scheme);
    }
    page = std::move(*next);
  }
  co_return CannotUse("it redirects more than ten times");
}

// Runs the task to its end.
template <typename Value, typename Task>
base::Result<Value> RunHere(const Task& task) {
  boost::asio::io_context io{1};
  std::optional<base::Result<Value>> result;
  base::TaskGroup tasks(io.get_executor());
  tasks.Spawn("fetch", [&]() -> base::Task<void> {
    base::Result<Value> done = co_await task(io.get_executor());
    result.emplace(std::move(done));
  });
  io.run();
  return std::move(*result);
}

// The last line of what kubectl wrote to standard error, without "error: ".
std::string LastLine(std::string_view errors) {
  errors = client::Trim(errors);
  const std::size_t line = errors.rfind('\n');
  if (line != std::string_view::npos) errors.remove_prefix(line + 1);
  constexpr std::string_view kError = "error: ";
  if (errors.starts_with(kError)) errors.remove_prefix(kError.size());
  return std::string(errors);
}

}  // namespace

bool IsUrl(const std::string& path) {
  return path.starts_with("http://") || path.starts_with("https://");
}

base::Result<std::string> Download(const std::string& url, const DownloadLimits& limits) {
  const std::string what = "unable to read URL \"" + http::WithoutCredentials(url) + "\"";
  const auto page = ParsePage(url);
  if (!page) return page.error().Wrap(what);
  auto text = RunHere<std::string>([&](const base::asio::any_io_executor& executor) {
    return DownloadPage(executor, *page, limits);
  });
  if (!text) return text.error().Wrap(what);
  return text;
}

base::Result<std::string> Kustomize(const std::string& folder) {
  const auto ran = RunHere<client::ProcessResult>([&](const base::asio::any_io_executor& executor) {
    client::ProcessOptions options;
    options.arguments = {"kubectl", "kustomize", "--", folder};
    options.timeout = kKustomizeTime;
    options.max_output = kKustomizeBytes;
    return client::RunProcess(executor, std::move(options));
  });
  const std::string what = "kubectl kustomize " + folder;
  if (!ran && ran.error().Is(ErrorCode::kNotFound)) {
    return CannotUse("-k runs \"kubectl kustomize\", and kubectl is not on PATH");
  }
  if (!ran) return ran.error().Wrap(what);
  if (ran->exit_status != 0) {
    return CannotUse(what + " failed with exit status " + std::to_string(ran->exit_status) + ": " +
                     LastLine(ran->errors));
  }
  return ran->output;
}

}  // namespace kubectl_quota
