#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {
namespace {

json::Object Meta(const std::string& name, const std::string& ns) {
  return {{"name", name}, {"namespace", ns}};
}

}  // namespace

json::Value MakePod(const std::string& name, const std::string& cpu, const std::string& ns) {
  json::Object requests{{"cpu", cpu}};
  json::Object container{{"name", "main"},
                         {"resources", json::Object{{"requests", std::move(requests)}}}};
  return json::Object{{"metadata", Meta(name, ns)},
                      {"spec", json::Object{{"containers", json::Array{std::move(container)}}}}};
}

json::Value MakeSecret(const std::string& name, const std::string& ns) {
  return json::Object{{"metadata", Meta(name, ns)}};
}

json::Value MakeQuota(const std::string& name, const json::Object& hard, const std::string& ns) {
  return json::Object{{"metadata", Meta(name, ns)}, {"spec", json::Object{{"hard", hard}}}};
}

std::vector<std::string> EventList::Texts() const {
  std::vector<std::string> texts;
  for (const client::Event& event : said) {
    texts.push_back(event.reason + " " + event.about.name + ": " + event.message);
  }
  return texts;
}

ControllerFixture::ControllerFixture(controllers::QuotaControllerOptions options)
    : options_(std::move(options)) {
  options_.seed = 1;
  cluster.Serve(kPods, "Pod");
  cluster.Serve(kSecrets, "Secret");
  cluster.Serve(kQuotas, "ResourceQuota");
  cluster.Serve(kDeployments, "Deployment");
  Start();
}

ControllerFixture::~ControllerFixture() {
  cluster.ForgetFunctions();
  Stop();
}

void ControllerFixture::Start() {
  // As in the daemon, each process has an identity of its own.
  options_.identity = "process-" + std::to_string(++starts_);
  controllers::TrackingContext context{.executor = io.get_executor(),
                                       .scheduler = &scheduler,
                                       .client = &cluster,
                                       .reflector = {.seed = 1},
                                       .events = &events};
  served.emplace(cluster, scheduler);
  controller = std::make_unique<controllers::QuotaController>(context, api, *served, shared,
                                                              recorder, options_, *queue_observer);
  running_ = std::make_unique<base::TaskGroup>(io.get_executor());
  running_->Spawn("controller", [this] { return controller->Run(); });
  scheduler.RunUntilIdle();
}

void ControllerFixture::Stop() {
  if (!running_) return;
  running_->Cancel();
  scheduler.RunFor(std::chrono::seconds(60));
  running_.reset();
  controller.reset();
}

std::string ControllerFixture::List(const std::string& name, const std::string& ns,
                                    std::string_view field) const {
  const json::Value* object = cluster.Find(kQuotas, ns, name);
  const json::Value* list = object == nullptr ? nullptr : object->At({"status", field});
  if (list == nullptr) return "";
  std::map<std::string, std::string> sorted;
  for (const auto& [key, value] : *list->AsObject()) sorted[key] = *value.AsString();
  std::string text;
  for (const auto& [key, value] : sorted) {
    text.append(text.empty() ? "" : ",").append(key).append("=").append(value);
  }
  return text;
}

std::string ControllerFixture::Used(const std::string& name, const std::string& ns) const {
  return List(name, ns, "used");
}

std::string ControllerFixture::Hard(const std::string& name, const std::string& ns) const {
  return List(name, ns, "hard");
}

void ControllerFixture::WriteStatus(const std::string& name, const json::Object& hard,
                                    const json::Object& used) {
  json::Value object = *cluster.Find(kQuotas, "team-a", name);
  object.Make({"status"}) = json::Object{{"hard", hard}, {"used", used}};
  cluster.Put(kQuotas, std::move(object));
}

}  // namespace fixture
