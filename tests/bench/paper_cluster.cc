#include "tests/bench/paper_cluster.h"

#include <boost/asio/post.hpp>
#include <deque>
#include <future>
#include <list>
#include <map>
#include <thread>

#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/server.h"
#include "tests/bench/discovery_text.h"
#include "tests/bench/paper_store.h"
#include "tests/bench/pod_events.h"
#include "tests/e2e/harness/api_server.h"
#include "tests/e2e/harness/files.h"
#include "tests/pkg/protobuf/wire.h"

namespace bench {
namespace {

using std::chrono::steady_clock;

constexpr int kListVersion = 1000;
constexpr int kNoLimit = 1'000'000;

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
        namespaces == 0 ? ProtobufPod(i, 0) : ProtobufPodIn(PaperNamespace(i % namespaces), i, 0);
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
    const std::string name = PaperNamespace(i);
    if (i > from) list += ',';
    list.append(R"({"metadata":{"name":")").append(name).append(R"(","uid":"uid-)").append(name);
    list.append(R"(","resourceVersion":"7","labels":{"team":"a"}}})");
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
  Server(int pods, int others, int namespaces, const PaperKinds& kinds)
      : namespaces_(namespaces),
        kinds_(kinds),
        counts_{{"pods", pods}, {"namespaces", namespaces}, {kPaperClasses, kClasses}} {
    for (int kind = 0; kind < kinds.kinds; ++kind) {
      counts_[PaperKind(kind)] = kinds.objects;
      store_.Put("usagedefinitions", "", PaperDefinitionName(kind), PaperDefinition(kind));
    }
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
    const std::string event = store_.Put(Quotas(), namespaces_ == 0 ? kNamespace : "", name, spec);
    const Moment now = steady_clock::now();
    base::asio::post(io_, [this, event] { Show(Quotas(), Once(event)); });
    return now;
  }

  void PutEmptyQuotas(int count) { store_.PutEmptyQuotas(Quotas(), count); }

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
    return store_.WaitForUsed(name, resource, used, timeout);
  }

  void SendEvents(const std::string& resource, Source source) {
    auto done = std::make_shared<std::promise<void>>();
    auto ended = done->get_future();
    base::asio::post(io_, [this, resource, source = std::move(source), done] {
      Show(resource, [source, done]() mutable {
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
      response = Patch(target, request.body);
    } else if (target.path == "/api" || target.path == "/apis") {
      response.headers = {{"Content-Type", kDiscoveryType}};
      response.body = target.path == "/api" ? DiscoveryText(CoreKinds())
                      : kinds_.kinds > 0    ? DiscoveryOf(kinds_)
                      : namespaces_ == 0    ? DiscoveryText(Kinds())
                                            : DiscoveryOfClusterQuotas();
    } else if (resource == Quotas() || resource == "usagedefinitions") {
      const auto most = static_cast<std::size_t>(NumberIn(target, "limit", kNoLimit));
      response = {.headers = {{"Content-Type", "application/json"}},
                  .body = store_.List(resource, most, std::string(target.Get("continue")))};
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
    const bool counted = resource == "secrets" || resource == "configmaps";
    return {.headers = {{"Content-Type", "application/json"}},
            .body = counted ? MetadataAsJson(resource, from, end, count)
                            : ObjectsAsJson(resource, from, end, count, namespaces_)};
  }

  http::Response Patch(const http::Target& target, const std::string& body) {
    const std::string& resource = target.segments.at(target.segments.size() - 3);
    const std::string& name = target.segments.at(target.segments.size() - 2);
    const auto patched = store_.Patch(resource, name, json::Parse(body).value());
    if (!patched) {
      return {.status = 409,
              .headers = {{"Content-Type", "application/json"}},
              .body = R"({"kind":"Status","status":"Failure","reason":"Conflict","code":409})"};
    }
    Show(resource, Once(patched->event));
    return {.headers = {{"Content-Type", "application/json"}}, .body = patched->answer};
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
  PaperKinds kinds_;
  std::map<std::string, int> counts_;
  e2e::TempDir folder_;
  std::string kubeconfig_;

  PaperStore store_;

  base::asio::io_context io_{1};  // this and all that follows belong to the server's thread
  base::RealScheduler scheduler_{io_.get_executor()};
  std::list<OpenWatch> watches_;
  bool pods_refused_ = false;
  std::unique_ptr<http::Server> server_;
  base::TaskGroup tasks_{io_.get_executor()};
  std::thread thread_;
};

PaperCluster::PaperCluster(int pods, int others, int namespaces, const PaperKinds& kinds)
    : server_(std::make_unique<Server>(pods, others, namespaces, kinds)) {}
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

void PaperCluster::SendEvents(const std::string& resource, Source source) {
  server_->SendEvents(resource, std::move(source));
}

std::string PaperPodEvent(const std::string& type, int number, int version) {
  return wire::Frame(type, "Pod", ProtobufPod(number, version));
}
std::string PaperPodEventIn(const std::string& ns, const std::string& type, int number,
                            int version) {
  return wire::Frame(type, "Pod", ProtobufPodIn(ns, number, version));
}

}  // namespace bench
