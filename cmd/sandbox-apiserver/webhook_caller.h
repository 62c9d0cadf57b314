#pragma once

// Calls validating webhooks for a write, all that match at once, as kube-apiserver does: HTTP/1.1
// keep-alive, ?timeout=, failurePolicy.
//
// Single-threaded; the objects, the scheduler and the caller outlive the calls.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cmd/sandbox-apiserver/objects.h"
#include "cmd/sandbox-apiserver/webhook_rules.h"
#include "pkg/base/scheduler.h"
#include "pkg/http/client.h"

namespace sandbox {

class WebhookCaller {
 public:
  // Creates the client for a webhook; tests replace it.
  using Post = std::function<base::Task<base::Result<http::Response>>(const Webhook& webhook,
                                                                      std::string body)>;

  WebhookCaller(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                const Objects& objects);
  ~WebhookCaller();
  WebhookCaller(const WebhookCaller&) = delete;
  WebhookCaller& operator=(const WebhookCaller&) = delete;

  // Returns the warnings of the webhooks if all allow; otherwise the first refusal, or the first
  // failure whose policy is Fail. `admission` and what it points to must live until the task ends.
  base::Task<Outcome<std::vector<std::string>>> Admit(const Admission& admission);
  void SetPost(Post post) { post_ = std::move(post); }

 private:
  struct Answer;

  std::vector<const Webhook*> Matching(const Admission& admission);
  void RefreshWebhooks();
  base::Task<void> Ask(const Webhook& webhook, const Admission& admission, Answer& answer);
  base::Task<base::Result<Verdict>> Call(const Webhook& webhook, const Admission& admission);
  base::Task<base::Result<http::Response>> PostOverHttp(const Webhook& webhook, std::string body);
  base::Result<http::Client*> ClientOf(const Webhook& webhook, const http::Url& url);

  base::asio::any_io_executor executor_;
  base::Scheduler& scheduler_;
  const Objects& objects_;
  Post post_;
  std::vector<ObjectPtr> configurations_;  // those from which webhooks_ was read
  std::shared_ptr<const std::vector<Webhook>> webhooks_;
  std::map<std::string, std::unique_ptr<http::Client>> clients_;  // by authority and CA
  std::uint64_t next_uid_ = 1;
};

}  // namespace sandbox
