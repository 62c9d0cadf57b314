// Which classes of an object are read from the API server, and when.

#include "pkg/admission/ask.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/task_group.h"
#include "tests/pkg/quota/usage/usage_testing.h"

namespace admission::ask_test {
namespace {

using quota::ClassUsage;
using quota::List;

class OneQuota final : public QuotaBook {
 public:
  explicit OneQuota(const quota::Quota& quota) : quota_(quota) {}
  base::Task<base::Result<void>> Refresh(std::string, base::TimePoint) override {
    co_return base::Result<void>();
  }
  [[nodiscard]] NamespaceQuotas Quotas(std::string_view) const override {
    NamespaceQuotas all;
    all.quotas.push_back({.quota = &quota_});
    return all;
  }
  [[nodiscard]] Presence Look(std::string_view) const override { return {.any = true}; }
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota, base::TimePoint) override {
    co_return quota;
  }
  bool Draw(const ReservePlan&) override { return false; }
  base::Task<base::Result<void>> Reserve(ReservePlan, base::TimePoint) override {
    co_return base::Result<void>();
  }
  void Withdraw(const api::ObjectKey&, const quota::Uid&, std::uint64_t) override {}

 private:
  const quota::Quota& quota_;
};

// The watch has shown the classes in `table`. The server has those in `stored`, too.
class Classes final : public ObjectBook {
 public:
  [[nodiscard]] quota::Rules RulesNow() const override { return {}; }
  [[nodiscard]] const quota::ClassTable* ClassesOf(const quota::Evaluator&) const override {
    return &table;
  }
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator&, std::string_view, const quota::ObjectFacts& facts) const override {
    quota::Resolved resolved;
    resolved.subject.usage = table.ResolveKnown(facts.now, resolved.unknown);
    return resolved;
  }
  [[nodiscard]] bool HasLater(const quota::Evaluator&, const quota::Uid&,
                              std::string_view) const override {
    return false;
  }
  base::Task<base::Result<ClassUsage>> ReadClass(const quota::Evaluator&, std::string name,
                                                 base::TimePoint) override {
    reads.push_back(name);
    at_once = source == nullptr ? 0 : source->class_reads;
    const auto found = stored.find(name);
    if (found == stored.end()) {
      co_return base::Error{.code = base::ErrorCode::kNotFound, .message = name + " not found"};
    }
    co_return ClassUsage(found->second);
  }
  base::Task<base::Result<std::optional<ScaledObject>>> ReadScaled(const quota::Evaluator&,
                                                                   std::string, std::string,
                                                                   base::TimePoint) override {
    co_return std::optional<ScaledObject>();
  }
  base::Task<bool> IsTaken(const quota::Evaluator&, std::string, std::string, quota::Uid,
                           base::TimePoint) override {
    co_return false;
  }

  quota::ClassTable table{quota::MissingClass::kUnknown, "tier"};
  std::map<std::string, quota::ResourceList> stored;
  std::vector<std::string> reads;
  const QuotaSource* source = nullptr;
  std::size_t at_once = 0;  // reviews that read classes, at the last read
};

// A creation of a box with pools of these tiers, while a quota limits what they use.
struct Creation {
  explicit Creation(const std::vector<std::string>& tiers) {
    api.evaluators.Put(quota::usage::EvaluatorOf(quota::usage::OneName(
        R"("class":{"path":".spec.pools[*].tier","field":".size",
           "resource":{"group":"acme.io","resource":"tiers"},"displayName":"tier"})")));
    limits.hard = limits.status.hard = List({{"acme.io/n", "100"}});
    limits.status.used = List({{"acme.io/n", "0"}});
    source.book = &book;
    source.objects = &classes;
    source.open = true;
    classes.source = &source;
    json::Array pools;
    for (const std::string& tier : tiers) pools.push_back(json::Object{{"tier", tier}});
    review.resource = {"acme.io", "v1", "boxes"};
    review.ns = "a";
    review.name = "box";
    review.object.Make({"spec", "pools"}) = std::move(pools);
  }

  // What the object uses, or why that is unknown.
  std::string Read() {
    const auto ask = Ask::Of(source, review);
    REQUIRE(ask != nullptr);
    REQUIRE(ask->Read({}, nullptr).has_value());
    base::asio::io_context io;
    base::TaskGroup tasks(io.get_executor());
    std::string told;
    tasks.Spawn("read", [&]() -> base::Task<void> {
      const auto read = co_await ask->ReadClasses({});
      if (!read) told = read.error().message;
    });
    io.run();
    if (!told.empty()) return told;
    const quota::Request& request = ask->request();
    return request.unknown ? request.unknown->why.message : request.after.usage.ToString();
  }

  quota::QuotaApi api{.name = "test", .kind = "ResourceQuota"};
  quota::Quota limits;
  OneQuota book{limits};
  Classes classes;
  QuotaSource source{api, false};
  Review review;
};

}  // namespace

TEST_CASE("ask: only the classes are read that the watch has not shown", "[admission]") {
  Creation creation({"a", "b", "c"});
  creation.classes.table.Set("a", ClassUsage(List({{"acme.io/n", "1"}})));
  creation.classes.table.Set("c", ClassUsage(List({{"acme.io/n", "4"}})));
  creation.classes.stored["b"] = List({{"acme.io/n", "2"}});
  CHECK(creation.Read() == "acme.io/n=7,count/boxes.acme.io=1");
  CHECK(creation.classes.reads == std::vector<std::string>{"b"});
}

TEST_CASE("ask: the first class that does not exist is the last that is read", "[admission]") {
  std::vector<std::string> tiers;
  for (int i = 100; i < 228; ++i) tiers.push_back("t" + std::to_string(i));
  Creation creation(tiers);
  creation.classes.stored["t100"] = List({{"acme.io/n", "1"}});
  CHECK(creation.Read() == "tier \"t101\" not found");
  CHECK(creation.classes.reads == std::vector<std::string>{"t100", "t101"});
}

TEST_CASE("ask: what is unknown by a class that the watch has shown stays unknown", "[admission]") {
  Creation creation({"a", "b"});
  ClassUsage sizeless;
  sizeless.unknown["acme.io/n"] = "size: is missing";
  creation.classes.table.Set("a", sizeless);
  creation.classes.stored["b"] = List({{"acme.io/n", "2"}});
  CHECK(creation.Read() == "tier \"a\": size: is missing");
}

TEST_CASE("ask: so many reviews read classes at the same time", "[admission]") {
  Creation creation({"a"});
  creation.classes.stored["a"] = List({{"acme.io/n", "1"}});
  creation.source.class_reads = kMostClassReads;
  CHECK(creation.Read() == "too many requests wait for a tier");
  CHECK(creation.classes.reads.empty());
  creation.source.class_reads = kMostClassReads - 1;
  CHECK(creation.Read() == "acme.io/n=1,count/boxes.acme.io=1");
  CHECK(creation.classes.at_once == kMostClassReads);
  CHECK(creation.source.class_reads == kMostClassReads - 1);
}

}  // namespace admission::ask_test
