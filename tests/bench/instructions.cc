// How many instructions does the daemon need for its most frequent work? Fixed work in virtual time
// without sockets, to be run under callgrind (tests/bench/instructions.sh), which counts what runs
// inside Counted(). Prints how often the work was done.
//
//   instructions QUESTION

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "controllers/quota/own_reservations.h"
#include "controllers/quota/quota_controller.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/base/manual_scheduler.h"
#include "pkg/json/projection.h"
#include "pkg/metrics/admission_metrics.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/cluster/tree_place.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/guarantee.h"
#include "pkg/quota/hash.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "pkg/webhook/handler.h"
#include "tests/bench/counted.h"
#include "tests/bench/paper_kinds.h"
#include "tests/bench/pod_events.h"
#include "tests/bench/run_main.h"
#include "tests/bench/staged_server.h"
#include "tests/pkg/admission/sample_reviews.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr int kTimes = 20;
constexpr int kWarmUp = 4;  // the first run allocates what later ones reuse
constexpr const char* kNamespace = "team-a";

// Fails the program if the counted work is not the intended work.
void Check(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

// Runs `work` so many times, counted except for the warm-up; `between` is never counted.
void Repeat(const std::function<void()>& between, const std::function<void()>& work) {
  for (int i = 0; i < kWarmUp + kTimes; ++i) {
    between();
    if (i < kWarmUp) {
      work();
    } else {
      Counted(work);
    }
  }
}

json::Value SevenNames() {
  return json::
      Parse(R"({"metadata":{"name":"q","namespace":"team-a","uid":"q-uid","resourceVersion":"900"},)"
            R"("spec":{"hard":{"cpu":"1M","limits.cpu":"1M","limits.memory":"1Pi","memory":"1Pi",)"
            R"("pods":"1M","requests.cpu":"1M","requests.memory":"1Pi"}}})")
          .value();
}

class NoListener final : public controllers::UsageListener {
 public:
  void OnUsageChange(const quota::Evaluator&, const quota::LedgerChange&) override { ++changes; }
  void OnResourceStates(const Evaluators&) override {}
  void OnClassChange(const quota::Evaluator&, const std::string&) override {}
  void OnClassState(const quota::Evaluator&) override {}
  void OnShown(std::string_view, const quota::Uid&) override {}
  int changes = 0;
};

class NoObserver final : public controllers::ControllerObserver {
 public:
  void OnReconcile(std::string_view, base::Duration) override {}
  void OnDrift(const api::GroupResource&, const controllers::DriftReport&) override {}
  void OnResync(base::Duration, bool) override {}
  void OnExternalChargesExpired(std::size_t) override {}
  void OnBurst(const quota::Quota&, const quota::ResourceList&) override {}
};

// The event loop, the time and the server of one question.
struct Stage {
  explicit Stage(std::string list) : server(scheduler, std::move(list), SevenNames()) {}
  [[nodiscard]] controllers::TrackingContext Context() {
    controllers::TrackingContext context{
        .executor = io.get_executor(), .scheduler = &scheduler, .client = &server};
    context.reflector.seed = 1;
    context.name = "core";
    context.registry = &registry;
    return context;
  }
  [[nodiscard]] const quota::Evaluator& Pods() const {
    for (const quota::Evaluator& evaluator : api.evaluators) {
      if (evaluator.resource.resource == "pods") return evaluator;
    }
    throw std::runtime_error("pods are not counted");
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  StagedServer server;
  metrics::Registry registry;
  quota::QuotaApi api = quota::CoreQuotaApi();
};

// A resource that is watched, with a user who counts its changes.
struct Tracked {
  Tracked(Stage& on, const api::GroupVersionResource& resource, const quota::Evaluator& evaluator)
      : stage(on), objects(on.Context(), resource, evaluator) {
    objects.AddUser(listener, [] { return nullptr; });
  }
  void List() {
    objects.Start();
    stage.scheduler.RunUntilIdle();
  }
  ~Tracked() {
    base::TaskGroup stopping(stage.io.get_executor());
    stopping.Spawn("stop", [&] { return objects.Stop(); });
    stage.scheduler.RunFor(5min);
  }

  Stage& stage;
  NoListener listener;
  controllers::TrackedResource objects;
};

// A watch event that changes what an object uses, from its bytes to the change in the ledger.
void Event(Tracked& tracked, const std::function<std::string(int version)>& event) {
  tracked.List();
  int version = 2000;
  std::string bytes;
  const auto next = [&] {
    bytes = event(++version);
    tracked.stage.scheduler.RunFor(100ms);  // a single event
  };
  Repeat(next, [&] {
    tracked.stage.server.objects().Send(std::move(bytes));
    tracked.stage.scheduler.RunUntilIdle();
  });
  Check(tracked.listener.changes == kWarmUp + kTimes, "not every event changed the ledger");
}

// Of a pod of about 5 kB.
void PodEvent(const std::function<std::string(const std::string& cpu, int version)>& event) {
  Stage stage(ListOfSmallPods(1000));
  Tracked pods(stage, {"", "v1", "pods"}, stage.Pods());
  Event(pods, [&](int version) { return event(version % 2 == 0 ? "250m" : "300m", version); });
}

// Custom objects of about 19 kB, of a kind with a UsageDefinition.
constexpr int kCustomNamespaces = 100;
quota::Evaluator CustomKind() {
  json::Value definition;
  definition.Make({"metadata", "name"}) = PaperDefinitionName(0);
  definition.Make({"spec"}) = PaperDefinition(0);
  return quota::usage::EvaluatorOf(quota::usage::ParseUsageDefinition(definition).value());
}

struct TrackedCustom : Tracked {
  explicit TrackedCustom(Stage& on) : Tracked(on, {kPaperGroup, "v1", PaperKind(0)}, CustomKind()) {
    for (const char* what : {"storage", "cpu", "backup", "iops"}) {
      objects.facts().Limit(PaperName(0, what));
    }
  }
};

void CustomEvent() {
  Stage stage(ObjectsAsJson(PaperKind(0), 0, 100, 100, kCustomNamespaces));
  TrackedCustom custom(stage);
  Event(custom, [number = 0](int version) mutable {
    return PaperObjectEvent(0, number++, kCustomNamespaces, version);
  });
}

// From the bytes of a list to the ledger.
void CustomList(int objects) {
  Stage stage(ObjectsAsJson(PaperKind(0), 0, objects, objects, kCustomNamespaces));
  TrackedCustom custom(stage);
  Counted([&] { custom.List(); });
  Check(custom.objects.ledger().size() == static_cast<std::size_t>(objects), "not all were listed");
}

// An object of a kind with a UsageDefinition whose list a stranger has filled.
void LongList(int elements) {
  std::string object = R"({"metadata":{"name":"a"},"spec":{"disks":[0)";
  for (int i = 1; i < elements; ++i) object += ",0";
  object += R"(],"size":1}})";
  const json::Projection wanted({"metadata.name", "spec.disks.size#", "spec.size#"});
  Repeat([] {},
         [&] {
           Check(json::Skim(object, wanted)->At({"spec", "size"}) != nullptr, "no size");
         });
}

// The quota controller with its server.
struct Controlled {
  explicit Controlled(int pods, int workloads = 10) : stage(ListOfSmallPods(pods, workloads)) {
    running.Spawn("controller", [this] { return controller.Run(); });
    stage.scheduler.RunFor(1min);
    Check(stage.server.writes == 1, "the quota was not counted");
  }
  ~Controlled() {
    running.Cancel();
    stage.scheduler.RunFor(5min);
  }
  [[nodiscard]] controllers::QuotaControllerOptions Options() {
    controllers::QuotaControllerOptions options;
    options.resync_period = {};
    options.seed = 1;
    options.leading = [this] { return leading; };
    return options;
  }
  [[nodiscard]] std::shared_ptr<const quota::Facts> FactsOfFirst() const {
    const auto* pods = controller.tracker().Find({"", "pods"});
    return pods->ledger().Find(kNamespace, quota::Uid::FromText(kSmallPodUid));
  }

  bool leading = true;
  Stage stage;
  NoObserver observer;
  controllers::ServedResources served{stage.server, stage.scheduler};
  controllers::SharedResources shared;
  controllers::QuotaController controller{stage.Context(), stage.api, served,
                                          shared,          observer,  Options()};
  base::TaskGroup running{stage.io.get_executor()};
};

// One recount of a quota in a namespace of so many pods, from the change of a pod to the written
// status.
void Recount(int pods) {
  Controlled world(pods);
  base::ManualScheduler& scheduler = world.stage.scheduler;
  world.stage.server.answer_delay = 1ms;
  quota::LedgerChange change{.ns = kNamespace, .uid = quota::Uid::FromText(kSmallPodUid)};
  int version = 100'000;
  const auto next = [&] {
    scheduler.RunFor(100ms);
    change.before = world.FactsOfFirst();
    world.leading = false;  // so that nothing is written yet
    ++version;
    world.stage.server.objects().Send(SmallPodEvent(version % 2 == 0 ? "250m" : "300m", version));
    scheduler.RunUntilIdle();
    world.leading = true;
    change.after = world.FactsOfFirst();
  };
  Repeat(next, [&] {
    world.controller.changes().OnUsageChange(world.stage.Pods(), change);
    scheduler.RunUntilIdle();
  });
  Check(world.stage.server.writes == 1 + kWarmUp + kTimes, "not every change was written");
}

// The deletion of one of 10 000 pods of so many sizes, from the watch event to the written status.
void Deletion(int sizes) {
  Controlled world(10'000, sizes);
  base::ManualScheduler& scheduler = world.stage.scheduler;
  StagedServer& server = world.stage.server;
  server.answer_delay = 1ms;
  int version = 100'000;
  const auto next = [&] {
    if (version > 100'000) server.objects().Send(SmallPodEvent("100m", ++version));
    scheduler.RunFor(100ms);
  };
  Repeat(next, [&] {
    server.objects().Send(SmallPodEvent("100m", ++version, "DELETED"));
    scheduler.RunUntilIdle();
  });
  // Each pod that comes again is written, too.
  Check(server.writes == 2 * std::size_t{kWarmUp + kTimes}, "not every deletion was written");
}

// Keeps the last answer.
class Answer final : public http::ResponseWriter {
 public:
  base::Task<base::Result<void>> Send(http::Response response) override {
    last = std::move(response);
    ++answers;
    co_return base::Result<void>();
  }
  base::Task<base::Result<void>> Start(int, http::Headers) override { return Nothing(); }
  base::Task<base::Result<void>> Write(std::string) override { return Nothing(); }
  base::Task<base::Result<void>> Finish() override { return Nothing(); }
  void Abort(bool) override {}

  http::Response last;
  int answers = 0;

 private:
  static base::Task<base::Result<void>> Nothing() { co_return base::Result<void>(); }
};

class Metrics final : public admission::Observer {
 public:
  explicit Metrics(metrics::Registry& registry) : metrics_(registry, {"core"}) {}
  void OnDecision(std::string_view api, std::string_view result, base::Duration took) override {
    metrics_.Decided(api, result, took);
  }
  void OnWarning(std::string_view api) override { metrics_.Warned(api); }
  void OnBatch(std::string_view api, std::size_t requests, std::size_t writes) override {
    metrics_.Batch(api, requests, writes);
  }
  void OnConflict(std::string_view api) override { metrics_.Conflict(api); }
  void OnReservationsExpired(std::string_view, std::size_t) override {}

 private:
  metrics::AdmissionMetrics metrics_;
};

http::Request ReviewRequest(int number) {
  static const std::string text = admission::test::ReviewText({});
  constexpr std::string_view kUid = "0c1a0b86-5f5c-4f0f-8d5f-6a1c1f7f0e01";
  char uid[kUid.size() + 1];
  std::snprintf(uid, sizeof uid, "0c1a0b86-5f5c-4f0f-8d60-%012d", number);
  http::Request request;
  request.method = "POST";
  request.target = "/validate/core?timeout=10s";
  request.headers = {{"Host", "127.0.0.1:9443"},
                     {"User-Agent", "kube-apiserver-admission"},
                     {"Accept", "application/json, */*"},
                     {"Content-Type", "application/json"},
                     {"Accept-Encoding", "gzip"}};
  request.body = text;
  request.body.replace(text.find(kUid), kUid.size(), uid);
  return request;
}

// Reviews of creations of a pod of about 5 kB, so many at once, from the bodies to the answers,
// with the status writes that reserve for them.
void Review(int at_once, std::size_t writes_each) {
  Controlled world(1000);
  base::ManualScheduler& scheduler = world.stage.scheduler;
  if (at_once > 1) world.stage.server.answer_delay = 1ms;  // meanwhile the next batch gathers
  Metrics metrics(world.stage.registry);
  admission::QuotaAdmitter admitter(world.stage.io.get_executor(), scheduler, metrics);
  admitter.Enforce(world.stage.api);
  admitter.Open(world.stage.api.name, world.controller.quota_book(),
                world.controller.object_book());
  const http::Handler handler = webhook::NewHandler(admitter, metrics, scheduler);
  base::TaskGroup connections(world.stage.io.get_executor());
  Answer answer;
  std::vector<http::Request> requests;
  int number = 0;
  const auto next = [&] {
    scheduler.RunFor(15s);  // the reservations end
    requests.clear();
    for (int i = 0; i < at_once; ++i) requests.push_back(ReviewRequest(number++));
  };
  std::size_t writes = 0;
  Repeat(next, [&] {
    const std::size_t before = world.stage.server.writes;
    for (http::Request& request : requests) {
      connections.Spawn("connection", [&] { return handler(std::move(request), {}, answer); });
    }
    scheduler.RunFor(10ms);
    writes += world.stage.server.writes - before;
  });
  Check(answer.answers == at_once * (kWarmUp + kTimes), "not every review was answered");
  Check(answer.last.body.find(R"("allowed":true)") != std::string::npos, "a pod was refused");
  Check(writes == writes_each * (kWarmUp + kTimes), "the status was written more often, or less");
  connections.Spawn("stop", [&] { return admitter.Stop(); });
  scheduler.RunFor(10s);
}

// A decision about a creation in a namespace that the first `selecting` of so many ClusterQuotas
// with a common parent select.
void Decision(int quotas, int selecting) {
  const auto pods = [](std::int64_t amount) {
    return quota::ResourceList{{"pods", quota::Quantity::FromInt(amount)}};
  };
  std::map<std::string, quota::Quota, std::less<>> known;
  quota::QuotaTree tree;
  for (int i = 0; i <= quotas; ++i) {
    const std::string name = "q" + std::to_string(i);
    quota::Quota& quota = known[name];
    quota.key.name = name;
    quota.hard = pods(i == 0 ? 1'000'000 : 1'000);
    quota.status = {quota.hard, pods(i == 0 ? quotas : 1)};
    quota::ClusterSpec& spec = quota.cluster.emplace();
    if (i <= selecting) spec.selector = api::LabelSelector::Parse("").value();
    if (i > 0) spec.parent = "q0";
    if (i > 0) spec.guaranteed = pods(10);
    tree.PutQuota(quota);
    tree.SetPromised(name, quota::Promised(quota, quota.status.used));
  }
  const json::Value labels = json::Object{};
  tree.PutNamespace(kNamespace, quota::LabelText(&labels));
  const quota::QuotaApi api = quota::ClusterQuotaApi();
  quota::Request request{.uid = {1}};
  for (const quota::Evaluator& evaluator : api.evaluators) {
    if (evaluator.resource.resource == "pods") request.evaluator = &evaluator;
  }
  request.after.usage = pods(1);
  Repeat([] {},
         [&] {
           const quota::QuotaTree::Reach& reach = tree.QuotasOf(kNamespace);
           const auto places = quota::PlacesOf(tree, reach);
           std::vector<quota::Standing> standings;
           for (std::size_t i = 0; i < reach.size(); ++i) {
             const quota::Quota& quota = known.find(reach[i].name)->second;
             standings.push_back({.quota = &quota, .used = quota.status.used, .tree = places[i]});
           }
           Check(quota::Decide(request, standings).kind == quota::Verdict::Kind::kFits,
                 "it was refused");
         });
}

// One more grant, while so many others of the last seconds are remembered.
void Grant(int remembered) {
  controllers::Author author{.by = "process"};
  controllers::OwnReservations own(author, {.crowd = 0});
  const base::TimePoint now{1h};
  std::uint64_t uids = 0;
  const auto grant = [&]() -> controllers::OwnReservations::Reserved {
    controllers::OwnReservations::Own mine{.n = ++author.n, .at = now};
    mine.usage.Set("pods", quota::Quantity::FromInt(1));
    return {.added = {{quota::Uid{++uids}, std::move(mine)}}};
  };
  for (int i = 0; i < remembered; ++i) own.Commit(now, grant());
  controllers::OwnReservations::Reserved added;
  Repeat([&] { added = grant(); }, [&] { own.Commit(now + 1s, std::move(added)); });
}

// A claim is created and counted, beside so many with other owners. Their uids are the multiples of
// the numbers of buckets that a hash table grows to: a tenant can write such references.
void Claim(int others) {
  quota::Ledger claims;
  const quota::Ledger pods;
  const auto put = [&](std::uint64_t number) {
    quota::ObjectFacts facts{
        .now = {.usage = {{"gpus", quota::Quantity::FromInt(1)}}, .attributes = {}},
        .later = std::nullopt};
    facts.tie = quota::Tie{.owner = quota::Uid{number * 42'043 * 85'229},
                           .name = "claim-" + std::to_string(number),
                           .created = "2026-01-01T00:00:00Z"};
    claims.Set("team-a", quota::Uid{quota::Mix(number)}, std::move(facts));
    Check(claims.Sum({.ns = "team-a"}, {}, {}, {"gpus"}, {.owners = &pods}).has_value(),
          "claims are not counted");
  };
  std::uint64_t number = 0;
  while (number < static_cast<std::uint64_t>(others)) put(++number);
  Repeat([] {}, [&] { put(++number); });
}

// An object whose amount can be read is created and counted, beside so many of a tenant whose
// amounts cannot be read.
void AmongUnread(int others) {
  quota::Ledger ledger;
  ledger.SetGroups("good", {"all"});
  ledger.SetGroups("bad", {"all"});
  const auto put = [&](const char* ns, std::uint64_t number, std::vector<std::string> unread) {
    quota::ObjectFacts facts{
        .now = {.usage = {{"buckets", quota::Quantity::FromInt(1)},
                          {"bytes", quota::Quantity::FromInt(static_cast<std::int64_t>(number))}},
                .attributes = {},
                .unread = std::move(unread)},
        .later = std::nullopt,
        .flaw = "bad/b: spec.size: must be a quantity"};
    ledger.Set(ns, quota::Uid{quota::Mix(number)}, std::move(facts));
  };
  const auto sum = [&] {
    Check(ledger.Least({.group = "all"}, {}, {}, {"buckets", "bytes", "iops"}).unknown.size() == 1,
          "all can be read");
  };
  std::uint64_t number = 0;
  // Most concern no name of the quota.
  for (int i = 0; i < others; ++i) put("bad", ++number, {i % 100 == 0 ? "bytes" : "other"});
  sum();
  Repeat([] {},
         [&] {
           put("good", ++number, {});
           sum();
         });
}

// An object is compared with a scope of so many values, all of them too long to be kept.
void Scope(int values) {
  const auto value = [](int number) {
    return std::string(60, 'x') + std::to_string(1'000'000 + number);
  };
  std::vector<std::string> listed(static_cast<std::size_t>(values));
  std::ranges::generate(listed, [&, i = 0]() mutable { return value(i++); });
  const quota::ScopeSelector selector{{.scope = "Class",
                                       .op = quota::ScopeOperator::kIn,
                                       .values = quota::ScopeValues(std::move(listed))}};
  const std::vector<std::string> known{"Class"};
  quota::Facts facts{.usage = {}, .attributes = {{"Class", value(values / 3)}}};
  quota::KeepScopeValue(facts.attributes.front().second);
  Repeat([] {}, [&] { Check(quota::MatchesObject(selector, facts, known), "it does not match"); });
}

struct Question {
  const char* name;
  int times;  // what is counted once, over all
  std::function<void()> ask;
};

int Main(const std::vector<std::string>& arguments) {
  const std::vector<Question> questions{
      {"event-json", kTimes, [] { PodEvent(JsonEvent); }},
      {"event-protobuf", kTimes, [] { PodEvent(ProtobufEvent); }},
      {"event-custom", kTimes, [] { CustomEvent(); }},
      {"list-custom", 500, [] { CustomList(500); }},
      {"list-of-700000-elements", kTimes, [] { LongList(700'000); }},
      {"recount-1000-pods", kTimes, [] { Recount(1000); }},
      {"recount-50000-pods", kTimes, [] { Recount(50'000); }},
      {"review-alone", kTimes, [] { Review(1, 1); }},
      {"review-of-36", 36 * kTimes, [] { Review(36, 1); }},
      {"deletion-among-3-sizes", kTimes, [] { Deletion(3); }},
      {"deletion-among-3000-sizes", kTimes, [] { Deletion(3000); }},
      {"decision-of-1000-quotas", kTimes, [] { Decision(1000, 1000); }},
      {"decision-below-10-quotas", kTimes, [] { Decision(10, 1); }},
      {"decision-below-10000-quotas", kTimes, [] { Decision(10'000, 1); }},
      {"grant-among-100", kTimes, [] { Grant(100); }},
      {"grant-among-20000", kTimes, [] { Grant(20'000); }},
      {"claim-among-100", kTimes, [] { Claim(100); }},
      {"claim-among-22000", kTimes, [] { Claim(22'000); }},
      {"sum-among-1000-unread", kTimes, [] { AmongUnread(1'000); }},
      {"sum-among-50000-unread", kTimes, [] { AmongUnread(50'000); }},
      {"scope-of-10-values", kTimes, [] { Scope(10); }},
      {"scope-of-20000-values", kTimes, [] { Scope(20'000); }},
  };
  const std::string_view name = arguments.size() == 1 ? std::string_view(arguments[0]) : "";
  for (const Question& question : questions) {
    if (question.name != name) continue;
    question.ask();
    std::printf("%d\n", question.times);
    return 0;
  }
  std::fprintf(stderr, "usage: instructions QUESTION\nquestions:");
  for (const Question& question : questions) std::fprintf(stderr, " %s", question.name);
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::RunMain("instructions", argc, argv, bench::Main); }
