#pragma once

// An ApiHandler in virtual time without a network. The fixture records its answers.

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "cmd/sandbox-apiserver/api_handler.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"
#include "tests/cmd/sandbox-apiserver/show_result.h"

namespace sandbox {

class RecordingWriter final : public http::ResponseWriter {
 public:
  base::Task<base::Result<void>> Send(http::Response whole) override {
    response = std::move(whole);
    finished = true;
    co_return base::Result<void>();
  }
  base::Task<base::Result<void>> Start(int status, http::Headers headers) override {
    response.status = status;
    response.headers = std::move(headers);
    started = true;
    co_return base::Result<void>();
  }
  base::Task<base::Result<void>> Write(std::string bytes) override {
    response.body += bytes;
    ++writes;
    co_return base::Result<void>();
  }
  base::Task<base::Result<void>> Finish() override {
    finished = true;
    co_return base::Result<void>();
  }
  void Abort(bool with_reset) override {
    aborted = true;
    reset = with_reset;
  }

  // Returns the events since the last call.
  std::vector<json::Value> TakeEvents() {
    std::vector<json::Value> events;
    for (std::size_t end; (end = response.body.find('\n', read_)) != std::string::npos;) {
      events.push_back(json::Parse(response.body.substr(read_, end - read_)).value());
      read_ = end + 1;
    }
    return events;
  }
  // Returns them as "ADDED a", "BOOKMARK " …
  std::vector<std::string> TakeNames() {
    std::vector<std::string> names;
    for (const json::Value& event : TakeEvents()) {
      names.push_back(std::string(event.StringAt({"type"})) + " " +
                      std::string(event.StringAt({"object", "metadata", "name"})));
    }
    return names;
  }

  http::Response response;
  bool started = false;
  bool finished = false;
  bool aborted = false;
  bool reset = false;
  int writes = 0;

 private:
  std::size_t read_ = 0;
};

class ApiFixture {
 protected:
  explicit ApiFixture(ApiHandlerOptions options = {}) : handler_(Made(std::move(options))) {
    tasks_.Spawn("background", [this] { return handler_->RunBackground(); });
  }
  ~ApiFixture() {
    tasks_.Cancel();
    scheduler_.RunUntilIdle();
  }

  // Sends a request and runs all ready coroutines.
  RecordingWriter& Open(std::string method, std::string target, std::string body = "",
                        http::Headers headers = {}) {
    http::Request request{std::move(method), std::move(target), std::move(headers),
                          std::move(body)};
    if (!request.headers.Has("Authorization")) {
      request.headers.Set("Authorization", "Bearer secret");
    }
    RecordingWriter& writer = writers_.emplace_back();
    tasks_.Spawn("request", [this, request, &writer] {
      return handler_->Handle(request, http::Peer{"127.0.0.1:1"}, writer);
    });
    scheduler_.RunUntilIdle();
    return writer;
  }

  http::Response Ask(std::string method, std::string target, std::string body = "",
                     http::Headers headers = {}) {
    RecordingWriter& writer =
        Open(std::move(method), std::move(target), std::move(body), std::move(headers));
    REQUIRE(writer.finished);
    return writer.response;
  }
  json::Value Json(const http::Response& response) { return json::Parse(response.body).value(); }

  void MakePod(const std::string& name, const std::string& labels = "{}") {
    const http::Response made =
        Ask("POST", "/api/v1/namespaces/default/pods",
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"(","labels":)" +
                labels + R"(},"spec":{"containers":[{"name":"c","image":"i"}]}})");
    INFO(made.body);
    REQUIRE(made.status == 201);
  }
  void DeletePod(const std::string& name) {
    REQUIRE(
        Ask("DELETE", "/api/v1/namespaces/default/pods/" + name + "?gracePeriodSeconds=0").status ==
        200);
  }
  void Inject(const std::string& fault) {
    const http::Response answer = Ask("POST", "/sandbox/faults", fault);
    INFO(answer.body);
    REQUIRE(answer.status == 200);
  }
  std::string CurrentVersion() {
    return std::to_string(handler_->store().objects().current_version());
  }

  base::asio::io_context io_{1};
  base::ManualScheduler scheduler_{io_};
  std::list<RecordingWriter> writers_;
  std::unique_ptr<ApiHandler> handler_;
  base::TaskGroup tasks_{io_.get_executor()};

 private:
  std::unique_ptr<ApiHandler> Made(ApiHandlerOptions options) {
    options.auth.tokens["secret"] = User{"admin", {"system:masters"}};
    options.store.seed = 7;
    return std::make_unique<ApiHandler>(io_.get_executor(), scheduler_, std::move(options));
  }
};

}  // namespace sandbox
