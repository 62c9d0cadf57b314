#include "pkg/admission/joint_admitter.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/base/task_group.h"

namespace admission {
namespace {

bool IsAllowed(const Answer& answer) { return answer.kind == Answer::Kind::kAllowed; }

// The first refusal, else the first answer that does not allow; null if all allow.
const Answer* FirstAgainst(const std::vector<Answer>& answers) {
  const auto refused = std::ranges::find(answers, Answer::Kind::kRefused, &Answer::kind);
  if (refused != answers.end()) return &*refused;
  const auto open = std::ranges::find_if_not(answers, IsAllowed);
  return open == answers.end() ? nullptr : &*open;
}

void AddTo(Answer& all, Answer one) {
  std::ranges::move(one.warnings, std::back_inserter(all.warnings));
  std::ranges::move(one.would_refuse, std::back_inserter(all.would_refuse));
}

Answer GivenUp() { return {.kind = Answer::Kind::kUnavailable, .message = "the caller gave up"}; }

}  // namespace

JointAdmitter::JointAdmitter(base::asio::any_io_executor executor, std::string name,
                             std::vector<QuotaAdmitter*> own, std::vector<QuotaAdmitter*> all,
                             MayCall may_call, std::vector<QuotaAdmitter*> advisers)
    : executor_(std::move(executor)),
      name_(std::move(name)),
      own_(std::move(own)),
      all_(std::move(all)),
      may_call_(std::move(may_call)),
      advisers_(std::move(advisers)) {
  for (const QuotaAdmitter* one : own_) CHECK(std::ranges::count(all_, one) == 1) << one->name();
}

// Remembers nothing for a resource without wanted fields: the request may name any resource.
std::vector<std::string> JointAdmitter::FieldsOf(const api::GroupResource& resource) {
  if (all_.size() == 1 && advisers_.empty()) return all_.front()->FieldsOf(resource);
  const auto known = fields_.find(resource);
  if (known != fields_.end()) return known->second;
  std::vector<std::string> fields;
  for (const Admitters* admitters : {&all_, &advisers_}) {
    for (QuotaAdmitter* admitter : *admitters) {
      std::ranges::move(admitter->FieldsOf(resource), std::back_inserter(fields));
    }
  }
  std::ranges::sort(fields);
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  if (!fields.empty()) fields_[resource] = fields;
  return fields;
}

JointAdmitter::Admitters JointAdmitter::Limiting(const Review& review) const {
  Admitters limiting;
  std::ranges::copy_if(all_, std::back_inserter(limiting),
                       [&](const QuotaAdmitter* admitter) { return Concerns(*admitter, review); });
  return limiting;
}

bool JointAdmitter::Concerns(const QuotaAdmitter& admitter, const Review& review) const {
  if (!admitter.MayLimit(review)) return false;
  if (std::ranges::find(own_, &admitter) != own_.end()) return true;
  if (!may_call_ || may_call_(admitter.name(), review.resource.WithoutVersion(), review.ns)) {
    return true;
  }
  return admitter.KnowsQuotas(review.ns);
}

base::Task<Answer> JointAdmitter::Admit(Review review, base::TimePoint deadline) {
  const bool alone = all_.size() == 1 && advisers_.empty();
  return alone ? all_.front()->Admit(std::move(review), deadline)
               : AdmitBeside(std::move(review), deadline);
}

base::Task<Answer> JointAdmitter::AdmitBeside(Review review, base::TimePoint deadline) {
  Admitters limiting = Limiting(review);
  if (limiting.empty()) co_return Answer{};
  const bool charges = std::ranges::any_of(limiting, &QuotaAdmitter::cluster);
  for (QuotaAdmitter* adviser : advisers_) {
    if (!charges || !adviser->MayLimit(review)) continue;
    Review judged = review;
    auto refusal = co_await adviser->Advise(std::move(judged), deadline);
    if (refusal) co_return *std::move(refusal);
  }
  if (limiting.size() == 1) {
    co_return co_await limiting.front()->Admit(std::move(review), deadline);
  }
  co_return co_await AdmitByAll(std::move(review), std::move(limiting), deadline);
}

base::Task<Answer> JointAdmitter::AdmitByAll(Review review, Admitters limiting,
                                             base::TimePoint deadline) {
  // Judging reserves nothing, so a request that one quota API refuses costs no write.
  Answer all;
  std::vector<Reserving> reserving;
  for (QuotaAdmitter* admitter : limiting) {
    Review judged = review;
    auto judgement = co_await admitter->Judge(std::move(judged), deadline);
    if (!IsAllowed(judgement.answer)) co_return std::move(judgement.answer);
    if (judgement.judged == nullptr) {
      AddTo(all, std::move(judgement.answer));
    } else {
      reserving.push_back({admitter, std::move(judgement.judged)});
    }
  }
  if (reserving.empty()) co_return all;
  // Only one has to reserve, so its answer is final and nothing has to be withdrawn.
  if (reserving.size() == 1) {
    QuotaAdmitter& only = *reserving.front().admitter;
    Answer answer = co_await only.AdmitJudged(std::move(reserving.front().judged));
    if (IsAllowed(answer)) AddTo(answer, std::move(all));
    co_return answer;
  }
  auto answers = co_await Reserve(std::move(reserving));
  if (const Answer* against = FirstAgainst(answers)) co_return *against;
  for (Answer& answer : answers) AddTo(all, std::move(answer));
  co_return all;
}

// Withdraws all grants if one quota API refuses or the caller gives up.
base::Task<std::vector<Answer>> JointAdmitter::Reserve(std::vector<Reserving> reserving) {
  std::vector<Answer> answers(reserving.size(), GivenUp());
  const bool stopping = co_await base::Stopping();
  if (stopping) co_return answers;
  base::TaskGroup group(executor_);
  for (std::size_t i = 0; i < reserving.size(); ++i) {
    group.Spawn("admit", [&, i]() -> base::Task<void> {
      // If it were interrupted, its grants would not be known, and could not be withdrawn below.
      co_await base::DeferCancellation();
      Answer answer = co_await reserving[i].admitter->AdmitJudged(reserving[i].judged);
      answers[i] = std::move(answer);
    });
  }
  const bool gave_up = co_await group.JoinOrCancel();
  if (gave_up || FirstAgainst(answers) != nullptr) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      reserving[i].admitter->Withdraw(answers[i].granted);
    }
  }
  if (gave_up) std::ranges::fill(answers, GivenUp());
  co_return answers;
}

}  // namespace admission
