#include "cmd/kubectl-quota/books.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "cmd/kubectl-quota/usage_names.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"

namespace kubectl_quota {
namespace {

using inspect::Checked;
using inspect::Piece;
using json::Value;

const inspect::Counter* CounterOf(ApiBook& of, const Value& object) {
  return of.counters.Of(api::ApiVersion(object), api::Kind(object));
}

// Notes a kind whose plural is guessed, if that decides whether a quota counts it.
void NoteGuess(const ApiBook& of, const Piece& piece, Checked& checked) {
  const Value* bound = inspect::Is(piece.object, inspect::kBinding)
                           ? piece.object.At({"spec", "resource"})
                           : nullptr;
  const Value& object = bound == nullptr ? piece.object : *bound;
  const std::string guess =
      of.counters.GuessOf(object.StringAt({"apiVersion"}), object.StringAt({"kind"}));
  if (guess.empty()) return;
  checked.notes.push_back(piece.of.ToString() + ": counted as " + guess +
                          ", but the plural is guessed: a CustomResourceDefinition tells it");
  checked.unknown.push_back(checked.notes.back());
}

base::Result<void> AddTo(ApiBook& of, const inspect::Expansion& expansion, base::WallTime now,
                         Checked& checked) {
  for (const Piece& piece : expansion.pieces) {
    NoteGuess(of, piece, checked);
    const inspect::Counter* counter = CounterOf(of, piece.object);
    if (counter == nullptr) continue;
    if (auto added = of.book.Add(*counter, piece, now); !added) return added;
  }
  for (const inspect::Rollout& rollout : expansion.rollouts) {
    const auto counter_of = [&](const Value& object) { return CounterOf(of, object); };
    if (auto added = of.book.Add(counter_of, rollout, now); !added) return added;
  }
  return {};
}

}  // namespace

ApiBook& Books::Open(const client::Discovered& kinds, const quota::QuotaApi& api,
                     quota::Rules rules, const inspect::FitBook& book) {
  rules.admin_access_counts = true;  // the API server's plugin would refuse the claim
  std::ranges::copy(book.quotas(), std::back_inserter(quotas_));
  all_.push_back(std::make_unique<ApiBook>(ApiBook{api, Counters(kinds, api, rules), book, book}));
  return *all_.back();
}

base::Result<void> Books::Add(inspect::Expansion expansion, base::WallTime now, Checked& checked) {
  std::ranges::move(expansion.notes, std::back_inserter(checked.notes));
  const bool limited = std::ranges::any_of(
      all_, [](const auto& of) { return of->CountsAnyKind() && !of->book.quotas().empty(); });
  if (limited) std::ranges::move(expansion.uncounted, std::back_inserter(checked.unknown));
  std::ranges::move(expansion.unpropagated, std::back_inserter(checked.unknown));
  std::ranges::copy(expansion.ending, std::back_inserter(ending_));
  for (const auto& of : all_) {
    NoteUndefined(*of, expansion, checked);
    if (auto added = AddTo(*of, expansion, now, checked); !added) return added;
  }
  return {};
}

base::Result<void> Books::Begin(inspect::HelmPhase phase, base::WallTime now) {
  if (phase == std::exchange(phase_, phase)) return {};
  const inspect::Expansion ended{.pieces = std::exchange(ending_, {})};
  Checked told;  // when they were created
  for (const auto& of : all_) {
    if (auto added = AddTo(*of, ended, now, told); !added) return added;
  }
  return {};
}

std::vector<std::string> Books::Undefined(ApiBook& of, const Value& object) const {
  const inspect::Counter* counter = knows_definitions_ ? nullptr : CounterOf(of, object);
  if (counter == nullptr) return {};
  std::vector<std::string> all;
  for (std::size_t i = 0; i < of.book.quotas().size(); ++i) {
    std::ranges::move(
        UndefinedOf(of.api, of.book.quotas()[i], of.book.TitleOf(i), counter->evaluator),
        std::back_inserter(all));
  }
  return all;
}

// Tells each once, however many objects of a manifest it concerns.
void Books::NoteUndefined(ApiBook& of, const inspect::Expansion& expansion,
                          Checked& checked) const {
  std::set<std::string> texts;
  const auto note = [&](const Piece& piece) {
    for (const std::string& text : Undefined(of, piece.object)) {
      texts.insert(piece.of.ToString() + ": " + text);
    }
  };
  std::ranges::for_each(expansion.pieces, note);
  for (const inspect::Rollout& rollout : expansion.rollouts)
    std::ranges::for_each(rollout.each, note);
  std::ranges::copy(texts, std::back_inserter(checked.unknown));
}

bool Books::FitsAlone(const inspect::ObjectName& name, const inspect::Expansion& expansion,
                      base::WallTime now) const {
  return std::ranges::all_of(all_, [&](const auto& of) {
    inspect::FitBook alone = of->empty;
    for (const Piece& piece : expansion.pieces) {
      if (inspect::NameOf(piece.object) != name) continue;
      const inspect::Counter* counter = CounterOf(*of, piece.object);
      const bool counted = counter == nullptr || alone.Add(*counter, piece, now).has_value();
      if (!counted) return false;
    }
    return alone.Fits();
  });
}

void Books::Close(const std::string& ns, Checked& checked) {
  for (const auto& of : all_) {
    for (const inspect::FitLine& line : of->book.Lines()) {
      if (line.before || line.tried) continue;
      checked.unknown.push_back("what is used of " + line.name + " of quota " +
                                of->book.TitleOf(line.quota) + " is not counted yet");
    }
    for (const inspect::Objection& unknown : of->book.unknown()) {
      checked.unknown.push_back(unknown.of.ToString() + ": " + unknown.text);
    }
    // What the server refuses before it asks quotas is in each of them.
    const bool core = of == all_.front();
    if (core || !of->book.quotas().empty()) checked.spaces.push_back({ns, std::move(of->book)});
  }
}

}  // namespace kubectl_quota
