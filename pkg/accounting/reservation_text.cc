// The list as JSON. What is not exactly as we write it is not believed.

#include <array>
#include <cstdio>
#include <initializer_list>
#include <set>
#include <utility>

#include "pkg/accounting/reservation_list.h"
#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"
#include "pkg/json/value.h"
#include "pkg/quota/quantity_field.h"

namespace accounting {
namespace {

using base::Result;

// More than what we write can have, whoever wrote it.
constexpr std::size_t kMostBytes = std::size_t{256} * 1024;
constexpr std::size_t kMostEntries = 4'096;

base::Error Wrong(std::string what) {
  return {.code = base::ErrorCode::kMalformed, .message = std::move(what)};
}

std::string TextOf(const Uid& uid) {
  std::array<char, 40> text{};
  const auto part = [](std::uint64_t from, int shift, std::uint64_t mask) {
    return static_cast<unsigned long long>((from >> shift) & mask);
  };
  std::snprintf(text.data(), text.size(), "%08llx-%04llx-%04llx-%04llx-%012llx",
                part(uid.high, 32, 0xffffffff), part(uid.high, 16, 0xffff),
                part(uid.high, 0, 0xffff), part(uid.low, 48, 0xffff),
                part(uid.low, 0, 0xffffffffffff));
  return text.data();
}

// One JSON object, appended to a text. A tree of values would cost each review a twentieth more.
class ObjectText {
 public:
  explicit ObjectText(std::string& text) : text_(text) { text_ += '{'; }
  ~ObjectText() { text_ += '}'; }
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;

  // What is appended next is its value.
  std::string& Member(std::string_view name) {
    if (!std::exchange(empty_, false)) text_ += ',';
    text_ += json::Quote(name);
    return text_ += ':';
  }
  void Add(std::string_view name, std::string_view value) { Member(name) += json::Quote(value); }
  void Add(std::string_view name, std::uint64_t value) { Member(name) += std::to_string(value); }
  void Add(std::string_view name, const ResourceList& amounts) {
    ObjectText object(Member(name));
    for (const auto& [resource, amount] : amounts) object.Add(resource, amount.ToString());
  }
  void Add(std::string_view name, const std::vector<Uid>& uids) {
    Member(name);
    char separator = '[';
    for (const Uid& uid : uids) {
      text_ += std::exchange(separator, ',');
      text_ += json::Quote(TextOf(uid));
    }
    text_ += ']';
  }

 private:
  std::string& text_;
  bool empty_ = true;
};

void Append(std::string& text, const Reservation& entry) {
  ObjectText object(text);
  object.Add("by", entry.by);
  object.Add("n", entry.n);
  object.Add("usage", entry.usage);
  if (!entry.of.empty()) object.Add("of", entry.of);
  if (!entry.ns.empty()) object.Add("ns", entry.ns);
  if (!entry.objects.empty()) object.Add("objects", entry.objects);
  if (!entry.from.empty()) object.Add("from", entry.from);
  if (!entry.stored.empty()) object.Add("stored", entry.stored);
  if (entry.unassigned > 0) object.Add("unassigned", entry.unassigned);
  if (entry.webhook.count() > 0) {
    object.Add("webhook", static_cast<std::uint64_t>(entry.webhook.count()));
  }
}

Result<void> KnowsAll(const json::Value& value, std::initializer_list<std::string_view> members) {
  if (!value.IsObject()) return Wrong("an object is expected");
  for (const auto& [name, member] : *value.AsObject()) {
    if (std::find(members.begin(), members.end(), name) == members.end()) {
      return Wrong("unknown member " + name);
    }
  }
  return {};
}

Result<ResourceList> AmountsFrom(const json::Value& value, std::string_view member) {
  auto amounts = quota::ResourceListFrom(value.At({member}), member);
  if (!amounts) return amounts;
  for (const auto& [name, amount] : *amounts) {
    if (amount.Sign() < 0) return Wrong("a negative amount of " + name);
  }
  return amounts;
}

// Absent is zero; a fraction, or what is negative, is none.
Result<std::uint64_t> CountFrom(const json::Value& value, std::string_view member) {
  const json::Value* count = value.At({member});
  if (count == nullptr) return std::uint64_t{0};
  const auto number = count->AsInt64();
  if (!number || *number < 0) return Wrong(std::string(member) + " is no count");
  return static_cast<std::uint64_t>(*number);
}

Result<std::vector<Uid>> ObjectsFrom(const json::Value& value) {
  std::vector<Uid> objects;
  const json::Value* list = value.At({"objects"});
  if (list == nullptr) return objects;
  if (!list->IsArray()) return Wrong("objects is no list");
  for (const json::Value& item : *list->AsArray()) {
    if (!item.IsString()) return Wrong("an object is no uid");
    objects.push_back(Uid::FromText(*item.AsString()));
    if (TextOf(objects.back()) != *item.AsString()) return Wrong("an object is no uid");
  }
  return objects;
}

Result<Reservation> EntryFrom(const json::Value& value) {
  if (auto all = KnowsAll(value, {"by", "n", "of", "ns", "usage", "objects", "from", "stored",
                                  "unassigned", "webhook"});
      !all) {
    return all.error();
  }
  Reservation entry;
  entry.by = value.StringAt({"by"});
  entry.of = value.StringAt({"of"});
  entry.ns = value.StringAt({"ns"});
  entry.from = value.StringAt({"from"});
  auto n = CountFrom(value, "n");
  auto unassigned = CountFrom(value, "unassigned");
  auto webhook = CountFrom(value, "webhook");
  auto usage = AmountsFrom(value, "usage");
  auto stored = AmountsFrom(value, "stored");
  auto objects = ObjectsFrom(value);
  if (!n) return n.error();
  if (!unassigned) return unassigned.error();
  if (!webhook) return webhook.error();
  if (!usage) return usage.error();
  if (!stored) return stored.error();
  if (!objects) return objects.error();
  entry.n = *n;
  entry.unassigned = *unassigned;
  entry.webhook = std::chrono::seconds(*webhook);
  if (entry.webhook > kLongestWebhook) return Wrong("a webhook may not take so long");
  entry.usage = std::move(*usage);
  entry.stored = std::move(*stored);
  entry.objects = std::move(*objects);
  if (entry.by.empty()) return Wrong("an entry says not by whom");
  const bool named = !entry.objects.empty();
  if (named && (entry.of.empty() || entry.unassigned > 0)) return Wrong("an entry of two kinds");
  const bool grows = !entry.from.empty() || !entry.stored.empty();
  if (!entry.ns.empty() && !named) return Wrong("a namespace of no object");
  if (grows && !named) return Wrong("a growth of no object");
  if (!entry.stored.empty() && entry.objects.size() > 1) return Wrong("a growth of two objects");
  return entry;
}

Result<std::map<std::string, std::string>> FloorFrom(const json::Value& value) {
  std::map<std::string, std::string> floor;
  const json::Value* versions = value.At({"floor"});
  if (versions == nullptr) return floor;
  if (!versions->IsObject()) return Wrong("floor is no object");
  for (const auto& [resource, version] : *versions->AsObject()) {
    const std::string* text = version.AsString();
    if (text == nullptr || !api::IsDecimalVersion(*text)) return Wrong("floor has no version");
    floor[resource] = *text;
  }
  return floor;
}

}  // namespace

std::string ReservationList::Print() const {
  std::string text;
  {
    ObjectText object(text);
    if (!entries_.empty()) {
      object.Member("reservations");
      char separator = '[';
      for (const Reservation& entry : entries_) {
        text += std::exchange(separator, ',');
        Append(text, entry);
      }
      text += ']';
    }
    if (!floor.empty()) {
      ObjectText versions(object.Member("floor"));
      for (const auto& [resource, version] : floor) versions.Add(resource, version);
    }
    object.Add("writes", writes);
    object.Add("used", used);
    if (!strangers.empty()) object.Add("strangers", strangers);
  }
  return text;
}

Result<ReservationList> ReservationList::Parse(std::string_view text) {
  if (text.size() > kMostBytes) return Wrong("it is too long");
  const auto value = json::Parse(text);
  if (!value) return value.error();
  if (auto all = KnowsAll(*value, {"reservations", "floor", "writes", "used", "strangers"}); !all) {
    return all.error();
  }
  ReservationList list;
  if (const json::Value* entries = value->At({"reservations"})) {
    if (!entries->IsArray()) return Wrong("reservations is no list");
    if (entries->AsArray()->size() > kMostEntries) return Wrong("there are too many entries");
    std::set<std::pair<std::string, std::uint64_t>> names;
    for (const json::Value& item : *entries->AsArray()) {
      auto entry = EntryFrom(item);
      if (!entry) return entry.error();
      if (!names.emplace(entry->by, entry->n).second) return Wrong("an entry stands there twice");
      list.entries_.push_back(std::move(*entry));
    }
  }
  auto floor = FloorFrom(*value);
  auto writes = CountFrom(*value, "writes");
  auto used = AmountsFrom(*value, "used");
  auto strangers = AmountsFrom(*value, "strangers");
  if (!floor) return floor.error();
  if (!writes) return writes.error();
  if (!used) return used.error();
  if (!strangers) return strangers.error();
  list.floor = std::move(*floor);
  list.writes = *writes;
  list.used = std::move(*used);
  list.strangers = std::move(*strangers);
  return list;
}

}  // namespace accounting
