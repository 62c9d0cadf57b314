#include "cmd/kubectl-quota/why_parts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/lacks.h"
#include "cmd/kubectl-quota/propagation.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"

namespace kubectl_quota {
namespace {

using inspect::WhyAnswer;
using json::Value;

// An object that is to be made, or changed.
struct Missing {
  Value object;
  std::optional<Value> stored = {};
};

// Asks the quotas of one API for the first missing object, and for all of them.
base::Result<WhyAnswer> AskBook(const Books& books, ApiBook& of, const WhyAnswer& about,
                                const std::vector<Missing>& missing, base::WallTime now) {
  std::set<std::string> unknown;
  inspect::Demand first{.of = std::vector<quota::ResourceList>(of.book.quotas().size())};
  std::vector<inspect::ClaimDemand> others;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const Value& object = missing[i].object;
    const auto* counter = of.counters.Of(api::ApiVersion(object), api::Kind(object));
    if (counter == nullptr) continue;
    for (std::string& text : books.Undefined(of, object)) unknown.insert(std::move(text));
    auto demand = of.book.DemandOf(*counter, object, missing[i].stored, now);
    if (!demand) return demand.error();
    std::ranges::copy(demand->unknown, std::inserter(unknown, unknown.end()));
    if (i == 0) {
      first = std::move(*demand);
    } else {
      others.push_back({.each = std::move(*demand), .missing = 1});
    }
  }
  WhyAnswer answer = inspect::Explain(about.of, about.wants, about.has, of.book, first, 1, others);
  answer.unknown.assign(unknown.begin(), unknown.end());
  return answer;
}

base::Task<base::Result<WhyAnswer>> Ask(Session& session, const Books& books, Value object,
                                        WhyAnswer answer, std::vector<Missing> missing) {
  for (const auto& of : books.all()) {
    auto more = AskBook(books, *of, answer, missing, session.scheduler.WallNow());
    if (!more) co_return more.error();
    inspect::Join(std::move(*more), answer);
  }
  if (answer.has < answer.wants) {
    Family family(session.cluster, session.ns, object);
    answer.refusal = co_await family.LastRefusal();
  }
  if (auto found = co_await FindRoom(session, books, answer); !found) co_return found.error();
  co_return std::move(answer);
}

base::Task<base::Result<WhyAnswer>> ExplainMachine(Session& session, const Books& books,
                                                   Value machine) {
  const inspect::ObjectName name = inspect::NameOf(machine);
  WhyAnswer answer{.of = name, .top = name, .of_what = "ephemeral object"};
  std::vector<Missing> missing;
  const client::Discovered* kinds = co_await session.cluster.Kinds();
  for (Value& part : inspect::MachineParts(machine)) {
    const auto* resource = FindKind(*kinds, api::ApiVersion(part), api::Kind(part));
    ++answer.wants;
    auto stored = base::Result<Value>(Value());
    if (resource != nullptr) {
      const NamedKind named{resource, std::string(api::Name(part))};
      stored = co_await GetObject(session.cluster, named, session.ns);
    }
    if (!stored && !stored.error().Is(base::ErrorCode::kNotFound)) co_return stored.error();
    if (stored && !stored->IsNull()) {
      ++answer.has;
    } else {
      missing.push_back({.object = std::move(part)});
    }
  }
  co_return co_await Ask(session, books, std::move(machine), std::move(answer), std::move(missing));
}

base::Task<base::Result<std::optional<WhyAnswer>>> ExplainTemplate(
    Session& session, const Books& books, Value object, inspect::Propagation propagation) {
  auto read = co_await ReadPropagation(session.cluster, session.ns, propagation);
  if (!read) co_return read.error();
  auto stored = co_await StoredBinding(session.cluster, session.ns, inspect::BindingName(object));
  if (!stored) co_return stored.error();
  inspect::Bound bound = inspect::BindingOf(object, propagation, *stored);
  const inspect::ObjectName name = inspect::NameOf(object);
  if (!bound.unknown.empty()) session.terminal().Warn(name.ToString() + ": " + bound.unknown);
  if (bound.binding.IsNull()) co_return std::nullopt;
  const bool there = !stored->IsNull();
  Missing missing{.object = std::move(bound.binding)};
  if (there) missing.stored = std::move(*stored);
  WhyAnswer answer{.of = name, .top = name, .of_what = there ? "larger binding" : "binding"};
  answer.wants = 1;
  std::vector<Missing> all;
  all.push_back(std::move(missing));
  auto told = co_await Ask(session, books, std::move(object), std::move(answer), std::move(all));
  if (!told) co_return told.error();
  // The present one is large enough.
  if (there && told->each.empty()) {
    told->of_what = "binding";
    told->has = 1;
  }
  co_return std::optional(std::move(*told));
}

}  // namespace

base::Task<base::Result<std::optional<WhyAnswer>>> ExplainParts(Session& session,
                                                                const Books& books, Value object) {
  if (inspect::Is(object, inspect::kMachine)) {
    auto answer = co_await ExplainMachine(session, books, std::move(object));
    if (!answer) co_return answer.error();
    co_return std::optional(std::move(*answer));
  }
  auto propagation = PropagationIn({}, {}, books);
  if (!propagation) co_return std::nullopt;
  co_return co_await ExplainTemplate(session, books, std::move(object), std::move(*propagation));
}

}  // namespace kubectl_quota
