#include "cmd/sandbox-apiserver/webhook_caller.h"

#include <glog/logging.h>

#include <charconv>
#include <chrono>
#include <utility>

#include "pkg/base/task_group.h"

namespace sandbox {
namespace {

// As client-go, with which kube-apiserver calls webhooks.
constexpr int kMaxRetries = 10;

api::Status FailedCall(const Webhook& webhook, const base::Error& error) {
  return api::InternalError("failed calling webhook " + json::Quote(webhook.name) +
                            ": failed to call webhook: " + error.message);
}

// Returns the answer's Retry-After if the call may be repeated.
std::optional<std::chrono::seconds> RetryAfter(const http::Response& response) {
  const std::string_view text = response.headers.Get("Retry-After");
  if (text.empty() || (response.status != 429 && response.status < 500)) return std::nullopt;
  int seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(seconds);
}

// Returns the error for an answer outside 2xx, with the message of its Status, as the API
// server's client does.
std::string WordsOf(const http::Response& response) {
  const base::Result<json::Value> status = json::Parse(response.body);
  const bool is_status = status && status->StringAt({"kind"}) == "Status";
  if (is_status) return std::string(status->StringAt({"message"}));
  return "the webhook answered HTTP " + std::to_string(response.status);
}

// The URL of a webhook has no query.
std::string TargetOf(const http::Url& url, std::chrono::seconds timeout) {
  return (url.path.empty() ? "/" : url.path) + "?timeout=" + std::to_string(timeout.count()) + "s";
}

const json::Value* LabelsOf(const json::Value* object) {
  return object == nullptr ? nullptr : object->At({"metadata", "labels"});
}

}  // namespace

struct WebhookCaller::Answer {
  std::optional<api::Status> refusal;
  std::vector<std::string> warnings;
};

WebhookCaller::WebhookCaller(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                             const Objects& objects)
    : executor_(std::move(executor)),
      scheduler_(scheduler),
      objects_(objects),
      post_([this](const Webhook& webhook, std::string body) {
        return PostOverHttp(webhook, std::move(body));
      }) {}

WebhookCaller::~WebhookCaller() = default;

void WebhookCaller::RefreshWebhooks() {
  const TypePtr type = objects_.registry().FindAny(
      {"admissionregistration.k8s.io", "validatingwebhookconfigurations"});
  if (!type) return;
  Outcome<ListPage> page = objects_.List(type, {});
  if (!page || (webhooks_ && page->items == configurations_)) return;
  configurations_ = std::move(page->items);
  auto webhooks = std::make_shared<std::vector<Webhook>>();
  for (const ObjectPtr& configuration : configurations_) {
    for (Webhook& webhook : WebhooksOf(*configuration)) {
      LOG_IF(WARNING, webhook.has_match_conditions)
          << "webhook " << webhook.name << ": matchConditions are not evaluated, it is called for "
          << "everything that its rules select";
      webhooks->push_back(std::move(webhook));
    }
  }
  webhooks_ = std::move(webhooks);
}

std::vector<const Webhook*> WebhookCaller::Matching(const Admission& admission) {
  std::vector<const Webhook*> matching;
  if (!webhooks_ || webhooks_->empty()) return matching;
  ObjectPtr of_namespace;
  const json::Value* labels = nullptr;
  if (admission.type->IsCore("namespaces")) {
    labels = LabelsOf(admission.object != nullptr ? admission.object : admission.old_object);
  } else if (TypePtr type = objects_.registry().Find("", "v1", "namespaces"); type) {
    Outcome<ObjectPtr> found = objects_.Get({type, "", admission.ns, ""});
    if (found) of_namespace = *found;
    labels = LabelsOf(of_namespace.get());
  }
  for (const Webhook& webhook : *webhooks_) {
    if (Selects(webhook, admission, labels)) matching.push_back(&webhook);
  }
  return matching;
}

base::Task<Outcome<std::vector<std::string>>> WebhookCaller::Admit(const Admission& admission) {
  RefreshWebhooks();
  const auto keep = webhooks_;  // a configuration may change while we wait
  const std::vector<const Webhook*> matching = Matching(admission);
  std::vector<Answer> answers(matching.size());
  base::TaskGroup calls(executor_);
  for (std::size_t i = 0; i < matching.size(); ++i) {
    calls.Spawn("webhook", [this, &admission, &answers, webhook = matching[i], i] {
      return Ask(*webhook, admission, answers[i]);
    });
  }
  while (!calls.empty()) {
    const bool stopping = co_await base::Stopping();
    if (stopping) calls.Cancel();
    co_await calls.Join();
  }
  std::vector<std::string> warnings;
  for (Answer& answer : answers) {
    if (answer.refusal) co_return *std::move(answer.refusal);
    warnings.insert(warnings.end(), answer.warnings.begin(), answer.warnings.end());
  }
  co_return warnings;
}

base::Task<void> WebhookCaller::Ask(const Webhook& webhook, const Admission& admission,
                                    Answer& answer) {
  co_await base::DeferCancellation();
  base::Result<Verdict> verdict = co_await Call(webhook, admission);
  if (verdict) {
    answer.warnings = std::move(verdict->warnings);
    if (!verdict->allowed) answer.refusal = std::move(verdict->denial);
  } else if (!webhook.ignore_failure) {
    answer.refusal = FailedCall(webhook, verdict.error());
  } else {
    LOG(WARNING) << "failed calling webhook " << webhook.name
                 << ", failing open: " << verdict.error().message;
  }
}

base::Task<base::Result<Verdict>> WebhookCaller::Call(const Webhook& webhook,
                                                      const Admission& admission) {
  if (!webhook.knows_v1) {
    co_return base::Error{.code = base::ErrorCode::kInvalid,
                          .message = "webhook does not accept known AdmissionReview versions (v1)"};
  }
  char uid[48];
  std::snprintf(uid, sizeof uid, "705ab4f5-6393-11e8-b7cc-%012llx",
                static_cast<unsigned long long>(next_uid_++));
  const std::string body = json::Write(MakeReview(admission, uid));
  const base::TimePoint deadline = scheduler_.Now() + webhook.timeout;
  for (int attempt = 0;; ++attempt) {
    base::Result<http::Response> response = co_await post_(webhook, body);
    if (!response) co_return response.error();
    const std::optional<std::chrono::seconds> retry = RetryAfter(*response);
    if (retry && attempt < kMaxRetries && scheduler_.Now() + *retry < deadline) {
      co_await scheduler_.Sleep(*retry);
      continue;
    }
    if (response->status < 200 || response->status > 299) {
      co_return base::Error{.code = base::ErrorCode::kUnavailable, .message = WordsOf(*response)};
    }
    co_return ReadReview(webhook, response->body, uid);
  }
}

base::Result<http::Client*> WebhookCaller::ClientOf(const Webhook& webhook, const http::Url& url) {
  std::unique_ptr<http::Client>& client = clients_[url.Authority() + webhook.ca_pem];
  if (client) return client.get();
  http::ClientOptions options;
  options.server = url;
  options.server.path.clear();
  options.tls.ca_pem = webhook.ca_pem;
  options.gzip = false;
  base::Result<std::unique_ptr<http::Client>> made = http::NewClient(executor_, options);
  if (!made) return made.error();
  client = *std::move(made);
  return client.get();
}

base::Task<base::Result<http::Response>> WebhookCaller::PostOverHttp(const Webhook& webhook,
                                                                     std::string body) {
  if (webhook.url.empty()) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable,
                          .message = "service " + webhook.service +
                                     ": the sandbox has no service network, use clientConfig.url"};
  }
  base::Result<http::Url> url = http::ParseUrl(webhook.url);
  if (!url) co_return url.error();
  base::Result<http::Client*> client = ClientOf(webhook, *url);
  if (!client) co_return client.error();
  http::Request request;
  request.method = "POST";
  request.target = TargetOf(*url, webhook.timeout);
  request.headers.Set("Content-Type", "application/json");
  request.headers.Set("Accept", "application/json");
  request.headers.Set("User-Agent", "sandbox-apiserver-admission");
  request.body = std::move(body);
  base::Result<http::Response> response =
      co_await (*client)->Do(std::move(request), std::chrono::milliseconds(webhook.timeout));
  if (!response) co_return response.error().Wrap("Post \"" + webhook.url + "\"");
  co_return *std::move(response);
}

}  // namespace sandbox
