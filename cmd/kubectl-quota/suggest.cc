#include "pkg/inspect/suggestion.h"

#include <algorithm>
#include <set>

#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/counting.h"
#include "pkg/inspect/holders.h"

namespace kubectl_quota {
namespace {

// Collects names that would refuse some existing pod, because it does not specify what a quota with
// this name requires.
class Undemandable {
 public:
  void Look(const quota::Evaluator& evaluator, const json::Value& object,
            const std::vector<std::string>& names) {
    if (!evaluator.guard.constraints) return;
    const std::string_view phase = object.StringAt({"status", "phase"});
    if (phase == "Succeeded" || phase == "Failed") return;
    for (const std::string& name : names) {
      if (!evaluator.guard.constraints(object, {name}).empty()) names_.insert(name);
    }
  }
  [[nodiscard]] const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
};

quota::Quota QuotaOfNames(const std::string& ns, const std::vector<std::string>& names) {
  quota::Quota quota;
  quota.key = {ns, "suggested"};
  for (const std::string& name : names) quota.hard.Set(name, {});
  return quota;
}

base::Task<base::Result<quota::ResourceList>> UsedNow(Session& session) {
  const std::vector<std::string> names = inspect::SuggestedNames();
  const inspect::Grouping grouping{.by = inspect::GroupBy::kNamespace};
  inspect::HolderBook book(QuotaOfNames(session.ns, names), names, grouping);
  Undemandable undemandable;
  auto filled =
      co_await FillBook(session.cluster, session.cluster.core(), book,
                        [&](const quota::Evaluator& evaluator, const json::Value& object,
                            const auto&) { undemandable.Look(evaluator, object, names); });
  if (!filled) co_return filled.error();
  quota::ResourceList used;
  for (const std::string& name : names) {
    if (undemandable.names().contains(name)) continue;
    quota::Quantity sum;
    for (const inspect::Holder& holder : book.HoldersOf(name)) {
      sum = sum.Add(holder.amount);
    }
    used.Set(name, sum);
  }
  for (const std::string& name : undemandable.names()) {
    session.terminal().Warn(name + " is left out: some pods do not state it, and a quota with it " +
                            "would refuse their like");
  }
  co_return used;
}

}  // namespace

base::Task<Outcome> Suggest(Session& session) {
  const auto percent = inspect::ParseHeadroom(session.options.suggest.headroom);
  if (!percent) co_return percent.error();
  auto used = co_await UsedNow(session);
  if (!used) co_return used.error();
  const std::vector<std::string>& unknown = session.terminal().doubts();
  const bool any =
      std::ranges::any_of(*used, [](const auto& one) { return one.second.Sign() > 0; });
  if (!any && !unknown.empty()) {
    co_return base::Error{.code = base::ErrorCode::kForbidden,
                          .message = "nothing that is used in namespace " + session.ns +
                                     " can be seen: " + unknown.front()};
  }
  if (!any) {
    co_return base::Error{.code = base::ErrorCode::kInvalidArgument,
                          .message = "nothing is used in namespace " + session.ns +
                                     ", so there is no quota to suggest"};
  }
  session.terminal().Write(inspect::SuggestionText(session.ns, *used, *percent, unknown));
  co_return kYes;
}

}  // namespace kubectl_quota
