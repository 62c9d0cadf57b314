#pragma once

// TEST ONLY. An http::Client that answers from a script and remembers its requests; and a function
// that runs one coroutine to its end in virtual time.

#include <boost/asio/co_spawn.hpp>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/http/client.h"

namespace client {

class StringBody final : public http::BodyStream {
 public:
  explicit StringBody(std::string text) : text_(std::move(text)) {}
  base::Task<base::Result<std::optional<std::string>>> Read(std::chrono::milliseconds) override {
    co_return std::exchange(text_, std::nullopt);
  }

 private:
  std::optional<std::string> text_;
};

// Shared with the test, because a RestClient owns the client itself.
struct HttpScript {
  struct Sent {
    http::Request request;
    std::chrono::milliseconds timeout{};
    bool gzip = false;
  };
  std::deque<base::Result<http::Response>> answers;
  std::vector<Sent> sent;
  // Makes the bodies of streams; null: they arrive whole.
  std::function<std::unique_ptr<http::BodyStream>(std::string)> make_body;
  std::vector<http::TlsOptions> tls;
  std::optional<base::Error> refuse_tls;
  int idle_closed = 0;

  void Answer(int status, std::string body, http::Headers headers = {}) {
    answers.emplace_back(http::Response{status, std::move(headers), std::move(body)});
  }
  void Fail(base::ErrorCode code, std::string message) {
    answers.emplace_back(base::Error{.code = code, .message = std::move(message)});
  }
};

class ScriptedHttp final : public http::Client {
 public:
  explicit ScriptedHttp(HttpScript& script) : script_(script) {}

  base::Task<base::Result<http::Response>> Do(http::Request request,
                                              std::chrono::milliseconds timeout) override {
    script_.sent.push_back({std::move(request), timeout, false});
    co_return Next();
  }

  base::Task<base::Result<http::StreamedResponse>> Open(
      http::Request request, bool accept_gzip, std::chrono::milliseconds timeout) override {
    script_.sent.push_back({std::move(request), timeout, accept_gzip});
    base::Result<http::Response> answer = Next();
    if (!answer) co_return answer.error();
    http::StreamedResponse streamed;
    streamed.status = answer->status;
    streamed.headers = std::move(answer->headers);
    if (script_.make_body) {
      streamed.body = script_.make_body(std::move(answer->body));
    } else {
      streamed.body = std::make_unique<StringBody>(std::move(answer->body));
    }
    co_return streamed;
  }

  void CloseIdle() override { ++script_.idle_closed; }

  base::Result<void> SetTls(http::TlsOptions tls) override {
    if (script_.refuse_tls) return *script_.refuse_tls;
    script_.tls.push_back(std::move(tls));
    return {};
  }

 private:
  base::Result<http::Response> Next() {
    if (script_.answers.empty()) {
      return base::Error{.code = base::ErrorCode::kInternal, .message = "the script has ended"};
    }
    base::Result<http::Response> answer = std::move(script_.answers.front());
    script_.answers.pop_front();
    return answer;
  }

  HttpScript& script_;
};

// A coroutine started in virtual time.
template <typename T>
class Running {
 public:
  Running(base::asio::io_context& io, std::function<base::Task<T>()> task)
      : state_(std::make_shared<State>()) {
    base::asio::co_spawn(io, std::move(task),
                         [state = state_](const std::exception_ptr& error, T value) {
                           state->error = error;
                           state->value.emplace(std::move(value));
                         });
  }
  [[nodiscard]] bool done() const { return state_->value.has_value(); }
  [[nodiscard]] const T& value() const {
    if (state_->error) std::rethrow_exception(state_->error);
    return state_->value.value();
  }
  [[nodiscard]] T Take() {
    if (state_->error) std::rethrow_exception(state_->error);
    return std::move(state_->value.value());
  }

 private:
  struct State {
    std::exception_ptr error;
    std::optional<T> value;
  };
  std::shared_ptr<State> state_;
};

}  // namespace client
