// What would make room for the pods that a workload lacks.

#include <algorithm>
#include <set>
#include <utility>

#include "pkg/inspect/why.h"

namespace inspect {
namespace {

using quota::Quantity;

// True if the control plane creates the object again: the ConfigMap with the CA, the default
// ServiceAccount, the API server's own Service, Endpoints, and pods that a node runs from files.
bool ComesBack(const std::string& title) {
  return title == "configmap/kube-root-ca.crt" || title == "serviceaccount/default" ||
         title == "service/kubernetes" || title.starts_with("endpoints/") ||
         title.starts_with("node/");
}

// True if the deletion of the holder makes room: it is a real object that goes and stays away, and
// it is not the workload itself or a claim of it.
bool CouldGo(const Holder& holder, const WhyAnswer& answer) {
  return holder.sort == Holder::Sort::kGroup && holder.title != answer.of.ToString() &&
         holder.title != answer.top.ToString() && !answer.stay.contains(holder.title) &&
         !ComesBack(holder.title);
}

Quantity LackOf(const WhyAnswer& answer, const LackHolders& lack) {
  for (const WhyQuota& quota : answer.quotas) {
    for (const WhyName& name : quota.names) {
      const bool same = quota.quota == lack.quota && quota.mode.empty() != lack.cluster;
      if (same && name.name == lack.name && name.lacks_for_all) {
        return *name.lacks_for_all;
      }
    }
  }
  return {};
}

// True if enough would be free for all lacking names without the holder of this title.
bool Suffices(const std::string& title, const WhyAnswer& answer,
              const std::vector<LackHolders>& lacks) {
  return std::ranges::all_of(lacks, [&](const LackHolders& lack) {
    const auto holder = std::ranges::find(lack.holders, title, &Holder::title);
    return holder != lack.holders.end() && holder->amount >= LackOf(answer, lack);
  });
}

std::string DeletionText(const WhyAnswer& answer, const std::vector<LackHolders>& lacks) {
  if (lacks.empty()) return "";
  const Holder* smallest = nullptr;
  for (const Holder& holder : lacks.front().holders) {
    if (!CouldGo(holder, answer) || !Suffices(holder.title, answer, lacks)) continue;
    if (smallest == nullptr || holder.amount < smallest->amount) smallest = &holder;
  }
  if (smallest == nullptr) return "";
  return "delete " + smallest->title + " (" + lacks.front().name + "=" +
         smallest->amount.ToString() + ")";
}

// Returns "pods of quota small to 16".
std::string Raised(const WhyQuota& quota, const std::string& name, const std::string& to) {
  std::string text = name;
  return text.append(quota.mode.empty() ? " of quota " : " of cluster quota ")
      .append(quota.quota)
      .append(to);
}

// What to specify, and how much of it is free.
class Specified {
 public:
  void Add(const WhyQuota& quota, const MissingValue& value) {
    const Quantity free = value.hard.Sub(value.used);
    std::string told = value.what;
    if (free.Sign() > 0 && free >= value.least) {
      told.append(" (at most ").append(free.ToString()).append(" in all missing pods)");
    } else if (value.least.IsZero()) {
      raised_.push_back(Raised(quota, value.name, " above " + value.hard.ToString()));
    } else {
      told.append(" (as little as its request)");
      raised_.push_back(Raised(quota, value.name, " to " + value.used.Add(value.least).ToString()));
    }
    raises_.emplace(quota.quota, value.name);
    const bool again = std::ranges::find(told_, told) != told_.end();
    if (!again) told_.push_back(std::move(told));
  }
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }
  [[nodiscard]] const std::vector<std::string>& raised() const { return raised_; }
  [[nodiscard]] bool Tells(const WhyQuota& quota, const WhyName& name) const {
    return raises_.contains({quota.quota, name.name});
  }

 private:
  std::vector<std::string> told_;
  std::vector<std::string> raised_;
  std::set<std::pair<std::string, std::string>> raises_;
};

std::string Joined(const std::string& verb, const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? verb : " and ").append(part);
  return text;
}

}  // namespace

std::string RoomFor(const WhyAnswer& answer, const std::vector<LackHolders>& lacks) {
  if (!answer.refusals.empty()) return "";
  Specified specified;
  std::vector<std::string> raised;
  for (const WhyQuota& quota : answer.quotas) {
    if (quota.Tried()) continue;
    for (const MissingValue& value : quota.missing) specified.Add(quota, value);
  }
  for (const WhyQuota& quota : answer.quotas) {
    for (const WhyName& name : quota.names) {
      if (!name.lacks_for_all || quota.Tried() || specified.Tells(quota, name)) continue;
      raised.push_back(
          Raised(quota, name.name, " to " + name.hard.Add(*name.lacks_for_all).ToString()));
    }
  }
  const std::string deletion = specified.raised().empty() ? DeletionText(answer, lacks) : "";
  raised.insert(raised.end(), specified.raised().begin(), specified.raised().end());
  std::string text = Joined("specify ", specified.told());
  std::string room = Joined("raise ", raised);
  if (!room.empty() && !deletion.empty()) room += ", or ";
  room += deletion;
  if (!text.empty() && !room.empty()) text += ", and ";
  return text + room;
}

}  // namespace inspect
