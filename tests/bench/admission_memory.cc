// Very many reviews, sent directly to the daemon, each about its own pod that is never stored.
// Every charge is held for its time and released. How much memory is left in use?

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "pkg/json/value.h"
#include "tests/bench/admission_questions.h"
#include "tests/bench/guarded_server.h"
#include "tests/e2e/harness/wait.h"
#include "tests/pkg/admission/sample_reviews.h"

namespace bench {
namespace {

constexpr int kConnections = 128;
constexpr int kSteps = 10;

// A review, split at the parts that differ between reviews.
class ReviewMaker {
 public:
  ReviewMaker() {
    std::string text = admission::test::ReviewText({});
    // With its quotes it is unique in the sample.
    Replace(text, R"("team-a")", json::Quote(GuardedServer::kNamespace));
    const auto at = text.find(kUid);
    if (at == std::string::npos) throw std::runtime_error("the sample review has no such uid");
    before_ = text.substr(0, at);
    after_ = text.substr(at + kUid.size());
  }

  [[nodiscard]] std::string Make(int number) const {
    char uid[kUid.size() + 1];
    std::snprintf(uid, sizeof uid, "0c1a0b86-5f5c-4f0f-8d5f-%012d", number);
    return before_ + uid + after_;
  }

 private:
  // The object's uid; the uid of the review may repeat.
  static constexpr std::string_view kUid = "0c1a0b86-5f5c-4f0f-8d5f-6a1c1f7f0e01";

  static void Replace(std::string& text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }

  std::string before_;
  std::string after_;
};

class DirectLoad {
 public:
  explicit DirectLoad(const std::string& url) {
    http::ClientOptions options;
    options.server = http::ParseUrl(url).value();
    options.tls.insecure = true;
    options.gzip = false;
    for (int i = 0; i < kConnections; ++i) {
      clients_.push_back(http::NewClient(io_.get_executor(), options).value());
    }
  }

  // Throws if a review is not allowed.
  void Send(int reviews) {
    left_ = reviews;
    base::TaskGroup group(io_.get_executor());
    for (const auto& client : clients_) {
      group.Spawn("reviews", [this, &client] { return Ask(*client); });
    }
    io_.restart();
    while (!group.empty() && io_.run_one() > 0) {
    }
    if (!trouble_.empty()) throw std::runtime_error(trouble_);
  }

 private:
  base::Task<void> Ask(http::Client& client) {
    while (left_-- > 0 && trouble_.empty()) {
      http::Request request;
      request.method = "POST";
      request.target = "/validate/core?timeout=10s";
      request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
      request.body = maker_.Make(next_++);
      const auto answer = co_await client.Do(std::move(request), std::chrono::seconds(20));
      if (!answer) {
        trouble_ = answer.error().message;
      } else if (answer->body.find("\"allowed\":true") == std::string::npos) {
        trouble_ = answer->body;
      }
    }
  }

  base::asio::io_context io_{1};
  ReviewMaker maker_;
  std::vector<std::unique_ptr<http::Client>> clients_;
  int left_ = 0;
  int next_ = 0;
  std::string trouble_;
};

double ResidentMb(const GuardedServer& server) {
  return static_cast<double>(e2e::UsageOf(server.webhook_pid()).resident_bytes) / 1e6;
}

}  // namespace

void AskMemory(const Size& size) {
  std::cerr << "memory: " << size.reviews << " reviews ...\n";
  GuardedServer server(Guard::kDaemon);
  DirectLoad load(server.WebhookUrl());
  const int step = std::max(1, size.reviews / kSteps);
  std::printf(
      "\n%d reviews over %d connections, straight to the daemon, of pods that are never stored:\n\n"
      "| reviews | resident MB | reviews/s | CPU µs a review |\n|---|---|---|---|\n"
      "| 0 | %.1f | – | – |\n",
      size.reviews, kConnections, ResidentMb(server));
  for (int sent = step; sent <= size.reviews; sent += step) {
    const auto began = std::chrono::steady_clock::now();
    const Micros cpu = CpuOfProcess(server.webhook_pid());
    load.Send(step);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::printf("| %d | %.1f | %.0f | %.0f |\n", sent, ResidentMb(server), step / took.count(),
                (CpuOfProcess(server.webhook_pid()) - cpu).count() / step);
    std::fflush(stdout);
  }
  const auto seconds = server.SecondsUntilUsed(0, std::chrono::seconds(60));
  const double then = ResidentMb(server);
  // The daemon trims its heap every 15 s.
  (void)e2e::PollUntil([&] { return ResidentMb(server) < then / 2; }, std::chrono::seconds(20));
  std::printf(
      "\nAll charges were released %s s after the last review; resident then: %.1f MB, "
      "%.1f MB within 20 s.\n",
      seconds ? std::to_string(*seconds).substr(0, 4).c_str() : "not within 60", then,
      ResidentMb(server));
  std::fflush(stdout);
}

}  // namespace bench
