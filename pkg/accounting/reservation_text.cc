// Prints and parses the list as JSON. The parser rejects every text that Print() could not write,
// except that it keeps members that it does not know (DESIGN.md, "Later versions").

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "pkg/accounting/reservation_list.h"
#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"
#include "pkg/json/value.h"
#include "pkg/quota/quantity_field.h"

namespace accounting {
namespace {

using base::Result;

// Bounds for texts of any writer. Our own lists are smaller.
constexpr std::size_t kMostBytes = std::size_t{256} * 1024;
constexpr std::size_t kMostEntries = 4'096;
// An entry with "like" has many amounts in a few bytes.
constexpr std::size_t kMostAmounts = 65'536;
static_assert(Bounds().amounts <= kMostAmounts / 2);

constexpr std::array<std::string_view, 11> kEntryMembers = {
    "by", "n", "usage", "like", "of", "ns", "objects", "from", "stored", "unassigned", "webhook"};
// An entry with "like" takes these from another one, and must not have them itself.
constexpr std::array<std::string_view, 4> kLikeMembers = {"by", "usage", "of", "webhook"};
constexpr std::array<std::string_view, 7> kListMembers = {"format", "uid",  "reservations", "floor",
                                                          "writes", "used", "strangers"};

base::Error Wrong(std::string what) {
  return {.code = base::ErrorCode::kMalformed, .message = std::move(what)};
}

// Appends one JSON object to a text. With a tree of json::Value each review takes a twentieth more
// time.
class ObjectText {
 public:
  explicit ObjectText(std::string& text) : text_(text) { text_ += '{'; }
  ~ObjectText() { text_ += '}'; }
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;

  // The caller appends the value next.
  std::string& Member(std::string_view name) {
    if (!std::exchange(empty_, false)) text_ += ',';
    text_ += json::Quote(name);
    return text_ += ':';
  }
  // Members as text: see Reservation::further.
  void AddFurther(std::string_view members) {
    if (members.empty()) return;
    if (!std::exchange(empty_, false)) text_ += ',';
    text_ += members;
  }
  void Add(std::string_view name, std::string_view value) { Member(name) += json::Quote(value); }
  void Add(std::string_view name, std::uint64_t value) { Member(name) += std::to_string(value); }
  void Add(std::string_view name, const ResourceList& amounts) {
    ObjectText object(Member(name));
    for (const auto& [resource, amount] : amounts) object.Add(resource, amount.ToString());
  }
  void Add(std::string_view name, const std::vector<Uid>& uids) {
    Member(name);
    char separator = '"';
    for (const Uid& uid : uids) {
      text_ += std::exchange(separator, ' ');
      text_ += uid.ToShortText();
    }
    text_ += '"';
  }

 private:
  std::string& text_;
  bool empty_ = true;
};

// True if one entry can be printed as "like" the other: they may differ in numbers, namespaces and
// objects.
bool IsAlike(const Reservation& a, const Reservation& b) {
  return a.by == b.by && a.of == b.of && a.webhook == b.webhook && a.usage == b.usage;
}

// The entries that others may refer to with "like": the last ones that were printed in full. Their
// number is bounded, so printing a list stays linear.
class Models {
 public:
  explicit Models(const std::vector<Reservation>& entries) : entries_(entries) {}

  // Returns the index of a model for the entry at `place`. Without one, the entry itself becomes a
  // model for later entries.
  std::optional<std::size_t> Find(std::size_t place) {
    const auto found = std::find_if(places_.rbegin(), places_.rend(), [&](std::size_t earlier) {
      return IsAlike(entries_[earlier], entries_[place]);
    });
    if (found != places_.rend()) return *found;
    places_.push_back(place);
    if (places_.size() > kMost) places_.pop_front();
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMost = 32;
  const std::vector<Reservation>& entries_;
  std::deque<std::size_t> places_;
};

void Append(std::string& text, const Reservation& entry, std::optional<std::size_t> like) {
  ObjectText object(text);
  if (like) object.Add("like", *like);
  if (!like) object.Add("by", entry.by);
  object.Add("n", entry.n);
  if (!like) object.Add("usage", entry.usage);
  if (!like && !entry.of.empty()) object.Add("of", entry.of);
  if (!entry.ns.empty()) object.Add("ns", entry.ns);
  if (!entry.objects.empty()) object.Add("objects", entry.objects);
  if (!entry.from.empty()) object.Add("from", entry.from);
  if (!entry.stored.empty()) object.Add("stored", entry.stored);
  if (entry.unassigned > 0) object.Add("unassigned", entry.unassigned);
  if (!like && entry.webhook.count() > 0) {
    object.Add("webhook", static_cast<std::uint64_t>(entry.webhook.count()));
  }
  object.AddFurther(entry.further);
}

// Keeps the unknown members of one list, up to a bound.
class FurtherMembers {
 public:
  // Returns the members of `object` that are not `known`, as text. A member that exceeds the bound
  // is dropped: its writer must do without it.
  std::string Of(const json::Value& object, std::span<const std::string_view> known) {
    std::string text;
    for (const auto& [name, value] : *object.AsObject()) {
      if (std::ranges::find(known, name) != known.end()) continue;
      const std::string member = json::Quote(name) + ":" + json::Write(value);
      if (member.size() >= left_) continue;
      left_ -= member.size() + 1;  // and a comma
      if (!text.empty()) text += ',';
      text += member;
    }
    return text;
  }

 private:
  std::size_t left_ = ReservationList::kMostFurther;
};

Result<ResourceList> AmountsFrom(const json::Value& value, std::string_view member) {
  auto amounts = quota::ResourceListFrom(value.At({member}), member);
  if (!amounts) return amounts;
  for (const auto& [name, amount] : *amounts) {
    if (amount.Sign() < 0) return Wrong("a negative amount of " + name);
  }
  return amounts;
}

template <typename T>
Result<void> Take(Result<T> from, T& into) {
  if (!from) return from.error();
  into = std::move(*from);
  return {};
}

// An absent member is 0. Errors: fractions, negative numbers, and what nobody counts to: the next
// number must be readable, too.
Result<std::uint64_t> CountFrom(const json::Value& value, std::string_view member) {
  const json::Value* count = value.At({member});
  if (count == nullptr) return std::uint64_t{0};
  const auto number = count->AsInt64();
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  if (!number || *number < 0 || *number > kMost) {
    return Wrong(std::string(member) + " is not a count");
  }
  return static_cast<std::uint64_t>(*number);
}

Result<std::vector<Uid>> ObjectsFrom(const json::Value& value) {
  std::vector<Uid> objects;
  const json::Value* list = value.At({"objects"});
  if (list == nullptr) return objects;
  if (!list->IsString()) return Wrong("objects is not a text");
  std::string_view left = *list->AsString();
  while (true) {
    const std::size_t end = left.find(' ');
    const auto uid = Uid::FromShortText(left.substr(0, end));
    if (!uid) return Wrong("an object is not a short uid");
    objects.push_back(*uid);
    if (end == std::string_view::npos) return objects;
    left.remove_prefix(end + 1);
  }
}

// Parses the members of an entry without "like" that others may copy.
Result<Reservation> EntryInFull(const json::Value& value) {
  Reservation entry;
  entry.by = value.StringAt({"by"});
  entry.of = value.StringAt({"of"});
  const auto webhook = CountFrom(value, "webhook");
  if (!webhook) return webhook.error();
  const auto usage = Take(AmountsFrom(value, "usage"), entry.usage);
  if (!usage) return usage.error();
  entry.webhook = std::chrono::seconds(*webhook);
  if (entry.webhook > kLongestWebhook) return Wrong("webhook exceeds the longest timeout");
  if (entry.by.empty()) return Wrong("an entry has no by");
  return entry;
}

// The same for an entry with "like": copies the members of an earlier entry.
Result<Reservation> EntryLike(const json::Value& value, const std::vector<Reservation>& before) {
  for (const std::string_view name : kLikeMembers) {
    if (value.At({name}) != nullptr) return Wrong("an entry has like and " + std::string(name));
  }
  const auto place = CountFrom(value, "like");
  if (!place) return place.error();
  if (*place >= before.size()) return Wrong("like does not refer to an earlier entry");
  const Reservation& model = before[*place];
  return Reservation{
      .by = model.by, .of = model.of, .usage = model.usage, .webhook = model.webhook};
}

Result<Reservation> EntryFrom(const json::Value& value, const std::vector<Reservation>& before) {
  if (!value.IsObject()) return Wrong("an entry is not an object");
  auto made = value.At({"like"}) == nullptr ? EntryInFull(value) : EntryLike(value, before);
  if (!made) return made;
  Reservation& entry = *made;
  entry.ns = value.StringAt({"ns"});
  entry.from = value.StringAt({"from"});
  auto good = Take(CountFrom(value, "n"), entry.n);
  if (good) good = Take(CountFrom(value, "unassigned"), entry.unassigned);
  if (good) good = Take(AmountsFrom(value, "stored"), entry.stored);
  if (good) good = Take(ObjectsFrom(value), entry.objects);
  if (!good) return good.error();
  const bool named = !entry.objects.empty();
  if (named && (entry.of.empty() || entry.unassigned > 0))
    return Wrong("an entry has objects without a resource, or with unassigned");
  const bool grows = !entry.from.empty() || !entry.stored.empty();
  if (!entry.ns.empty() && !named) return Wrong("an entry has a namespace but no objects");
  if (grows && !named) return Wrong("an entry for an update has no objects");
  if (!entry.stored.empty() && entry.objects.size() > 1)
    return Wrong("an entry for an update has several objects");
  return made;
}

Result<std::map<std::string, std::string>> FloorFrom(const json::Value& value) {
  std::map<std::string, std::string> floor;
  const json::Value* versions = value.At({"floor"});
  if (versions == nullptr) return floor;
  if (!versions->IsObject()) return Wrong("floor is not an object");
  for (const auto& [resource, version] : *versions->AsObject()) {
    const std::string* text = version.AsString();
    if (text == nullptr || !api::IsDecimalVersion(*text)) return Wrong("floor has no version");
    floor[resource] = *text;
  }
  return floor;
}

Result<std::vector<Reservation>> EntriesFrom(const json::Value& value, FurtherMembers& further) {
  std::vector<Reservation> entries;
  const json::Value* list = value.At({"reservations"});
  if (list == nullptr) return entries;
  if (!list->IsArray()) return Wrong("reservations is not a list");
  if (list->AsArray()->size() > kMostEntries) return Wrong("there are too many entries");
  std::set<std::pair<std::string, std::uint64_t>> names;
  std::size_t amounts = 0;
  for (const json::Value& item : *list->AsArray()) {
    auto entry = EntryFrom(item, entries);
    if (!entry) return entry.error();
    amounts += entry->usage.size();
    if (amounts > kMostAmounts) return Wrong("the entries have too many amounts");
    if (!names.emplace(entry->by, entry->n).second)
      return Wrong("two entries have the same by and n");
    entry->further = further.Of(item, kEntryMembers);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

// Checks the members that have the same meaning in all formats: whose list it is, and whether this
// version can read it. Returns the uid.
Result<std::string> OwnerFrom(const json::Value& value, std::string_view uid) {
  if (!value.IsObject()) return Wrong("the list is not an object");
  const auto format = CountFrom(value, "format");
  if (!format) return format.error();
  const json::Value* const member = value.At({"uid"});
  const bool has = member != nullptr && member->IsString() && !member->AsString()->empty();
  if (member != nullptr && !has) return Wrong("uid is not a text");
  if (has != (*format > 0)) return Wrong("format and uid do not belong together");
  if (has && *member->AsString() != uid) {
    return base::Error{.code = base::ErrorCode::kNotFound,
                       .message = "it belongs to another quota, of which this one is a copy"};
  }
  if (*format > ReservationList::kFormat) {
    return base::Error{
        .code = base::ErrorCode::kInvalid,
        .message = "a later version of quota-controller-manager wrote it in format " +
                   std::to_string(*format) + "; this version does not reserve in this quota"};
  }
  return has ? *member->AsString() : std::string();
}

}  // namespace

std::string ReservationList::Print() const {
  std::string text;
  {
    ObjectText object(text);
    if (!owner.empty()) {
      object.Add("format", kFormat);
      object.Add("uid", owner);
    }
    if (!entries_.empty()) {
      object.Member("reservations");
      char separator = '[';
      Models models(entries_);
      for (std::size_t place = 0; place < entries_.size(); ++place) {
        text += std::exchange(separator, ',');
        Append(text, entries_[place], models.Find(place));
      }
      text += ']';
    }
    if (!floor.empty()) {
      ObjectText versions(object.Member("floor"));
      for (const auto& [resource, version] : floor) versions.Add(resource, version);
    }
    object.Add("writes", writes);
    object.Add("used", used);
    if (!external.empty()) object.Add("strangers", external);
    object.AddFurther(further);
  }
  return text;
}

Result<ReservationList> ReservationList::Parse(std::string_view text, std::string_view uid) {
  if (text.size() > kMostBytes) return Wrong("the text is too long");
  const auto value = json::Parse(text);
  if (!value) return value.error();
  ReservationList list;
  auto good = Take(OwnerFrom(*value, uid), list.owner);
  if (!good) return good.error();
  FurtherMembers further;
  list.further = further.Of(*value, kListMembers);
  good = Take(EntriesFrom(*value, further), list.entries_);
  if (good) good = Take(FloorFrom(*value), list.floor);
  if (good) good = Take(CountFrom(*value, "writes"), list.writes);
  if (good) good = Take(AmountsFrom(*value, "used"), list.used);
  if (good) good = Take(AmountsFrom(*value, "strangers"), list.external);
  if (!good) return good.error();
  return list;
}

}  // namespace accounting
