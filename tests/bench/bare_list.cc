#include "tests/bench/bare_list.h"

#include <chrono>
#include <stdexcept>

#include "informers/reflector.h"
#include "informers/splitters.h"
#include "pkg/base/task_group.h"
#include "pkg/json/value.h"
#include "tests/e2e/harness/connection.h"

namespace bench {
namespace {

using base::Task;

class BareClient {
 public:
  BareClient(const std::string& kubeconfig, const std::string& path) : connection_(kubeconfig) {
    request_.path = path;
    request_.accept = "application/vnd.kubernetes.protobuf,application/json";
  }

  void Run() {
    base::TaskGroup tasks(connection_.io.get_executor());
    tasks.Spawn("bare list", [this] { return List(); });
    while (!tasks.empty() && connection_.io.run_one() > 0) {
    }
    if (!trouble_.empty()) throw std::runtime_error("bare list: " + trouble_);
  }

 private:
  Task<void> List() {
    do {
      co_await Page();
    } while (trouble_.empty() && !next_.empty());
  }

  // Splits the page into objects, because the continue token comes after the last one.
  Task<void> Page() {
    client::ApiRequest request = request_;
    request.query = {{"limit", std::to_string(informers::ReflectorOptions().page_size)}};
    if (!next_.empty()) request.query.emplace_back("continue", next_);
    auto body = co_await connection_.rest->Stream(std::move(request));
    if (!body) {
      trouble_ = body.error().message;
      co_return;
    }
    informers::ListSplitter splitter(std::size_t{16} << 20);
    const informers::PieceSink drop = [](informers::WireForm, std::string_view) {
      return base::Result<void>();
    };
    while (trouble_.empty()) {
      const auto bytes = co_await (*body)->Read(std::chrono::seconds(30));
      if (!bytes) {
        trouble_ = bytes.error().message;
      } else if (!*bytes) {
        break;
      } else if (const auto fed = splitter.Feed(**bytes, drop); !fed) {
        trouble_ = fed.error().message;
      }
    }
    const auto envelope = splitter.Envelope();
    if (!envelope && trouble_.empty()) trouble_ = envelope.error().message;
    if (trouble_.empty()) {
      next_ = json::Parse(*envelope).value().StringAt({"metadata", "continue"});
    }
  }

  e2e::Connection connection_;
  client::ApiRequest request_;
  std::string next_;
  std::string trouble_;
};

}  // namespace

double SecondsOfBareList(const std::string& kubeconfig, const std::string& path) {
  BareClient client(kubeconfig, path);
  const auto began = std::chrono::steady_clock::now();
  client.Run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace bench
