#include "tests/bench/paper_cluster.h"

#include <boost/asio/post.hpp>
#include <condition_variable>
#include <deque>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/server.h"
#include "tests/bench/discovery_text.h"
#include "tests/bench/pod_events.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/files.h"
#include "tests/pkg/protobuf/wire.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr int kListVersion = 1000;

const Kinds& CoreKinds() {
  static const Kinds kinds{{"pods", "Pod"},
                           {"secrets", "Secret"},
                           {"configmaps", "ConfigMap"},
                           {"resourcequotas", "ResourceQuota"}};
  return kinds;
}

int NumberIn(const http::Target& target, std::string_view name, int otherwise) {
  const std::string_view text = target.Get(name);
  return text.empty() ? otherwise : std::stoi(std::string(text));
}

// "" after the last page.
std::string Next(int end, int count) { return end < count ? std::to_string(end) : ""; }

std::string PodsAsProtobuf(int from, int end, int count, int namespaces) {
  std::string list = wire::Bytes(
      1, wire::Bytes(2, std::to_string(kListVersion)).append(wire::Bytes(3, Next(end, count))));
  for (int i = from; i < end; ++i) {
    const std::string pod =
        namespaces == 0 ? ProtobufPod(i, 0)
                        : ProtobufPodIn(PaperCluster::NumberedNamespace(i % namespaces), i, 0);
    list.append(wire::Bytes(2, pod));
  }
  return wire::Enveloped("PodList", list);
}

std::string MetadataAsJson(const std::string& resource, int from, int end, int count) {
  std::string list = R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",)"
                     R"("metadata":{"resourceVersion":"1000","continue":")" +
                     Next(end, count) + R"("},"items":[)";
  const char* const kind = resource == "secrets" ? "1" : "2";
  for (int i = from; i < end; ++i) {
    char uid[37];
    std::snprintf(uid, sizeof uid, "0c1a0b86-5f5c-4f0f-8d6%s-%012d", kind, i);
    if (i > from) list += ',';
    list += R"({"metadata":{"name":"o)" + std::to_string(i) + R"(","namespace":"team-a","uid":")" +
            uid + R"(","resourceVersion":"7"}})";
  }
  return list += "]}";
}

std::string NamespacesAsJson(int from, int end, int count) {
  std::string list = R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",)"
                     R"("metadata":{"resourceVersion":"1000","continue":")" +
                     Next(end, count) + R"("},"items":[)";
  for (int i = from; i < end; ++i) {
    const std::string name = PaperCluster::NumberedNamespace(i);
    if (i > from) list += ',';
    list += R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
            R"(","resourceVersion":"7","labels":{"team":"a"}}})";
  }
  return list += "]}";
}

}  // namespace

// One open watch: sources of bytes, and those that ended.
struct OpenWatch {
  std::string resource;
  std::deque<PaperCluster::Source> sources;
  std::unique_ptr<base::Alarm> more;
  bool cut = false;
};

class PaperCluster::Server {
 public:
  Server(int pods, int others, int namespaces)
      : namespaces_(namespaces), counts_{{"pods", pods}, {"namespaces", namespaces}} {
    counts_["secrets"] = others / 2;
    counts_["configmaps"] = others - others / 2;
    http::ServerOptions options;
    options.body_timeout = std::chrono::minutes(10);
    server_ = http::NewServer(
                  io_.get_executor(), options,
                  [this](http::Request request, const http::Peer&, http::ResponseWriter& writer) {
                    return Answer(std::move(request), writer);
                  })
                  .value();
    const std::string url = "http://127.0.0.1:" + std::to_string(server_->port());
    kubeconfig_ = folder_.Write("kubeconfig", e2e::KubeconfigText({.server = url}));
    tasks_.Spawn("server", [this] { return server_->Run(); });
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Server() {
    base::asio::post(io_, [this] {
      server_->Stop(std::chrono::milliseconds(0));
      tasks_.Cancel();
    });
    thread_.join();
  }

  [[nodiscard]] const std::string& kubeconfig() const { return kubeconfig_; }

  Moment PutQuota(const std::string& name, const json::Value& spec) {
    std::string event;
    {
      const std::lock_guard lock(mutex_);
      json::Value& quota = quotas_[name];
      const bool added = quota.IsNull();
      if (added) {
        quota.Make({"metadata", "name"}) = name;
        if (namespaces_ == 0) quota.Make({"metadata", "namespace"}) = kNamespace;
        quota.Make({"metadata", "uid"}) = "uid-" + name;
        quota.Make({"metadata", "generation"}) = 1;
      }
      quota.Make({"spec"}) = spec;
      event = EventOf(added ? "ADDED" : "MODIFIED", quota);
      used_.erase(name);
    }
    const Moment now = steady_clock::now();
    base::asio::post(io_, [this, event] { Show(Quotas(), Once(event)); });
    return now;
  }

  void PutEmptyQuotas(int count) {
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < count; ++i) {
      const std::string name = "empty-" + std::to_string(i);
      const json::Value hard = json::Object{{"pods", "10"}};
      quotas_[name] = json::Object{
          {"metadata", json::Object{{"name", name},
                                    {"namespace", name},
                                    {"uid", "uid-" + name},
                                    {"resourceVersion", std::to_string(kListVersion)}}},
          {"spec", json::Object{{"hard", hard}}},
          {"status", json::Object{{"hard", hard}, {"used", json::Object{{"pods", "0"}}}}}};
    }
  }

  void RefusePods(bool refuse) {
    base::asio::post(io_, [this, refuse] {
      pods_refused_ = refuse;
      for (OpenWatch& watch : watches_) {
        if (watch.resource != "pods" || !refuse) continue;
        watch.cut = true;
        watch.more->Wake();
      }
    });
  }

  std::optional<Moment> WaitForUsed(const std::string& name, const std::string& resource,
                                    const std::string& used, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    const auto key = std::pair(resource, used);
    const auto written = [&] { return used_[name].contains(key); };
    if (!written_.wait_for(lock, timeout, written)) return std::nullopt;
    return used_[name].at(key);
  }

  void SendPodEvents(Source source) {
    auto done = std::make_shared<std::promise<void>>();
    auto ended = done->get_future();
    base::asio::post(io_, [this, source = std::move(source), done] {
      Show("pods", [source, done]() mutable {
        std::string bytes = source();
        if (bytes.empty()) done->set_value();
        return bytes;
      });
    });
    ended.get();
  }

 private:
  [[nodiscard]] std::string Quotas() const {
    return namespaces_ == 0 ? "resourcequotas" : "clusterquotas";
  }

  static Source Once(std::string bytes) {
    return [bytes = std::move(bytes)]() mutable { return std::exchange(bytes, ""); };
  }

  // REQUIRES: mutex_ is held.
  std::string EventOf(const std::string& type, json::Value& quota) {
    quota.Make({"metadata", "resourceVersion"}) = std::to_string(++version_);
    return R"({"type":")" + type + R"(","object":)" + json::Write(quota) + "}\n";
  }

  void Show(const std::string& resource, const Source& source) {
    for (OpenWatch& watch : watches_) {
      if (watch.resource != resource) continue;
      watch.sources.push_back(source);
      watch.more->Wake();
    }
  }

  base::Task<void> Answer(http::Request request, http::ResponseWriter& writer) {
    const http::Target target = http::ParseTarget(request.target).value();
    const std::string resource = target.segments.empty() ? "" : target.segments.back();
    http::Response response;
    if (resource == "pods" && pods_refused_) {
      response = {.status = 503, .headers = {{"Content-Type", "text/plain"}}, .body = "away"};
      co_await writer.Send(std::move(response));
      co_return;
    }
    if (target.Has("watch")) {
      co_await Follow(resource, writer);
      co_return;
    }
    if (request.method == "PATCH") {
      response = Patch(target.segments.at(target.segments.size() - 2), request.body);
    } else if (target.path == "/api" || target.path == "/apis") {
      response.headers = {{"Content-Type", kDiscoveryType}};
      response.body = target.path == "/api" ? DiscoveryText(CoreKinds())
                      : namespaces_ == 0    ? DiscoveryText(Kinds())
                                            : DiscoveryOfClusterQuotas();
    } else if (resource == Quotas()) {
      response = {.headers = {{"Content-Type", "application/json"}}, .body = ListOfQuotas(target)};
    } else if (counts_.contains(resource)) {
      response = Page(resource, target);
    } else {
      response = {.status = 404, .headers = {{"Content-Type", "text/plain"}}, .body = "not here"};
    }
    co_await writer.Send(std::move(response));
  }

  http::Response Page(const std::string& resource, const http::Target& target) {
    const int count = counts_.at(resource);
    const int from = NumberIn(target, "continue", 0);
    const int end = std::min(count, from + NumberIn(target, "limit", count));
    if (resource == "pods") {
      return {.headers = {{"Content-Type", "application/vnd.kubernetes.protobuf"}},
              .body = PodsAsProtobuf(from, end, count, namespaces_)};
    }
    if (resource == "namespaces") {
      return {.headers = {{"Content-Type", "application/json"}},
              .body = NamespacesAsJson(from, end, count)};
    }
    return {.headers = {{"Content-Type", "application/json"}},
            .body = MetadataAsJson(resource, from, end, count)};
  }

  // A page begins after the quota that its token names.
  std::string ListOfQuotas(const http::Target& target) {
    const std::lock_guard lock(mutex_);
    const int most = NumberIn(target, "limit", static_cast<int>(quotas_.size()));
    json::Array items;
    std::string next;
    for (auto quota = quotas_.upper_bound(std::string(target.Get("continue")));
         quota != quotas_.end(); ++quota) {
      items.push_back(quota->second);
      if (static_cast<int>(items.size()) < most || std::next(quota) == quotas_.end()) continue;
      next = quota->first;
      break;
    }
    const char* const kind =
        namespaces_ == 0
            ? R"("ResourceQuotaList","apiVersion":"v1")"
            : R"("ClusterQuotaList","apiVersion":"quota-controller-manager.io/v1alpha1")";
    return R"({"kind":)" + std::string(kind) + R"(,"metadata":{"resourceVersion":")" +
           std::to_string(version_) + R"(","continue":")" + next + R"("},"items":)" +
           json::Write(std::move(items)) + "}";
  }

  http::Response Patch(const std::string& name, const std::string& body) {
    const Moment now = steady_clock::now();
    std::string text;
    std::string event;
    {
      const std::lock_guard lock(mutex_);
      const json::Value patch = json::Parse(body).value();
      json::Value& quota = quotas_.at(name);
      if (patch.StringAt({"metadata", "resourceVersion"}) !=
          quota.StringAt({"metadata", "resourceVersion"})) {
        return {.status = 409,
                .headers = {{"Content-Type", "application/json"}},
                .body = R"({"kind":"Status","status":"Failure","reason":"Conflict","code":409})"};
      }
      for (const auto& [member, value] : *patch.At({"status"})->AsObject()) {
        const std::string_view list = member;
        const json::Value* amounts = &value;
        if (list != "hard" && list != "used") {
          quota.Make({"status", list}) = value;
          continue;
        }
        for (const auto& [resource, amount] : *amounts->AsObject()) {
          quota.Make({"status", list, resource}) = amount;
          if (list == "used") used_[name].try_emplace({resource, *amount.AsString()}, now);
        }
      }
      event = EventOf("MODIFIED", quota);
      text = json::Write(quota);
    }
    written_.notify_all();
    Show(Quotas(), Once(event));
    return {.headers = {{"Content-Type", "application/json"}}, .body = text};
  }

  base::Task<void> Follow(std::string resource, http::ResponseWriter& writer) {
    co_await base::DeferCancellation();
    const auto watch = watches_.insert(
        watches_.end(),
        OpenWatch{.resource = resource, .sources = {}, .more = scheduler_.NewAlarm()});
    http::Headers headers{{"Content-Type", resource == "pods"
                                               ? "application/vnd.kubernetes.protobuf;stream=watch"
                                               : "application/json"}};
    auto sent = co_await writer.Start(200, std::move(headers));
    bool stopping = false;
    while (sent && !stopping) {
      std::string bytes;
      while (bytes.empty() && !watch->sources.empty()) {
        bytes = watch->sources.front()();
        if (bytes.empty()) watch->sources.pop_front();
      }
      if (bytes.empty()) {
        co_await watch->more->WaitUntil(scheduler_.Now() + std::chrono::hours(1));
      } else {
        sent = co_await writer.Write(std::move(bytes));
      }
      stopping = co_await base::Stopping() || watch->cut;
    }
    watches_.erase(watch);
  }

  int namespaces_;
  std::map<std::string, int> counts_;
  e2e::TempDir folder_;
  std::string kubeconfig_;

  std::mutex mutex_;
  std::condition_variable written_;
  std::map<std::string, json::Value> quotas_;  // guarded by mutex_, like the two below
  // By quota: when each amount of a resource was first written.
  std::map<std::string, std::map<std::pair<std::string, std::string>, Moment>> used_;
  int version_ = kListVersion;

  base::asio::io_context io_{1};  // this and all that follows belong to the server's thread
  base::RealScheduler scheduler_{io_.get_executor()};
  std::list<OpenWatch> watches_;
  bool pods_refused_ = false;
  std::unique_ptr<http::Server> server_;
  base::TaskGroup tasks_{io_.get_executor()};
  std::thread thread_;
};

std::string PaperCluster::NumberedNamespace(int number) {
  std::string name = std::to_string(number);
  return name.insert(0, 5 - name.size(), '0').insert(0, "t");
}

PaperCluster::PaperCluster(int pods, int others, int namespaces)
    : server_(std::make_unique<Server>(pods, others, namespaces)) {}
PaperCluster::~PaperCluster() = default;

const std::string& PaperCluster::Kubeconfig() const { return server_->kubeconfig(); }

PaperCluster::Moment PaperCluster::PutQuota(const std::string& name, const json::Value& spec) {
  return server_->PutQuota(name, spec);
}

std::optional<PaperCluster::Moment> PaperCluster::WaitForUsed(const std::string& name,
                                                              const std::string& resource,
                                                              const std::string& used,
                                                              std::chrono::milliseconds timeout) {
  return server_->WaitForUsed(name, resource, used, timeout);
}

void PaperCluster::PutEmptyQuotas(int count) { server_->PutEmptyQuotas(count); }

void PaperCluster::RefusePods(bool refuse) { server_->RefusePods(refuse); }

void PaperCluster::SendPodEvents(Source source) { server_->SendPodEvents(std::move(source)); }

std::string PaperPodEvent(const std::string& type, int number, int version) {
  return wire::Frame(type, "Pod", ProtobufPod(number, version));
}
std::string PaperPodEventIn(const std::string& ns, const std::string& type, int number,
                            int version) {
  return wire::Frame(type, "Pod", ProtobufPodIn(ns, number, version));
}

}  // namespace bench
