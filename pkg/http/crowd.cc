#include "pkg/http/crowd.h"

#include <glog/logging.h>

#include <optional>
#include <tuple>

namespace http {
namespace {

constexpr std::chrono::seconds kPatience{2};

}  // namespace

// The heaviest guest gives way.
struct Crowd::Weight {
  enum class Standing { kKnown, kNew, kSlow };

  // The weight of a guest that is awaited, if it must be by now.
  Weight(Scarce what, const Guest& guest, base::TimePoint now)
      : standing(guest.known_ ? Standing::kKnown : Standing::kNew), age(now - guest.since_) {
    const Share& of_address = guest.share_->second;
    share = what == Scarce::kBytes ? of_address.bytes : of_address.connections;
    own = what == Scarce::kBytes ? guest.bytes_ : 1;
    // Waiting for the next request is allowed for any time, so age does not count there.
    const bool may_wait = guest.known_ && guest.state_ == Guest::State::kWaiting;
    if (age >= kPatience && !may_wait) standing = Standing::kSlow;
  }

  // The weight of a guest that waits for the server.
  void Excuse(const Guest& guest) { standing = guest.known_ ? Standing::kKnown : Standing::kNew; }

  bool operator>(const Weight& other) const {
    return std::tie(standing, share, own, age) >
           std::tie(other.standing, other.share, other.own, other.age);
  }

  Standing standing;
  std::size_t share = 0;
  std::size_t own = 0;
  base::Duration age;
};

Crowd::~Crowd() { CHECK(guests_.empty()) << "a crowd that still has guests"; }

template <typename Change>
void Crowd::Prove(Guest& guest, Change change) {
  if (guest.unproven()) bytes_unproven_ -= guest.bytes_;
  change();
  if (guest.unproven()) bytes_unproven_ += guest.bytes_;
  CHECK_LE(bytes_unproven_, bytes_) << "new guests hold more bytes than all guests";
}

bool Crowd::MakeRoom() {
  if (!full()) return true;
  Guest* guest = Heaviest(Scarce::kConnections, Among::kAll, nullptr);
  if (guest == nullptr) return false;
  // Leaves first: GiveWay() may close the connection, which must not count any more.
  guest->Leave();
  guest->GiveWay(Scarce::kConnections);
  return true;
}

bool Crowd::ComesFirst(const Guest& a, const Guest& b) {
  if (!a.here_ || !b.here_) return a.here_ && !b.here_;
  const std::uint64_t of_a = a.share_->second.served;
  const std::uint64_t of_b = b.share_->second.served;
  return of_a != of_b ? of_a < of_b : a.since_ > b.since_;
}

void Crowd::OnServed(const Guest& guest) {
  if (guest.here_) guest.share_->second.served = ++guest.crowd_.turns_;
}

Crowd::Guest* Crowd::Heaviest(Scarce what, Among among, Guest* asking) const {
  const base::TimePoint now = clock_.Now();
  Guest* heaviest = asking;
  std::optional<Weight> most;
  // IsAwaited() costs a system call, and thousands of guests may be slow. Only those that would be
  // the heaviest are asked.
  const auto outweighs = [&](const Guest& guest) {
    Weight weight(what, guest, now);
    if (most && !(weight > *most)) return false;
    if (weight.standing == Weight::Standing::kSlow && !guest.IsAwaited()) weight.Excuse(guest);
    if (most && !(weight > *most)) return false;
    most = weight;
    return true;
  };
  if (asking != nullptr) (void)outweighs(*asking);
  for (Guest* guest : guests_) {
    if (guest == asking || guest->state_ == Guest::State::kInHand) continue;
    if (what == Scarce::kBytes && guest->bytes_ == 0) continue;
    if (among == Among::kUnproven && !guest->unproven()) continue;
    if (!outweighs(*guest)) continue;
    heaviest = guest;
  }
  return heaviest;
}

void Crowd::SetBytes(Guest& guest, std::size_t bytes) {
  Share& share = guest.share_->second;
  CHECK_LE(guest.bytes_, share.bytes) << "a guest holds more bytes than all of its address";
  bytes_ = bytes_ - guest.bytes_ + bytes;
  share.bytes = share.bytes - guest.bytes_ + bytes;
  if (guest.unproven()) bytes_unproven_ = bytes_unproven_ - guest.bytes_ + bytes;
  guest.bytes_ = bytes;
  CHECK_LE(share.bytes, bytes_) << "an address holds more bytes than all";
  CHECK_LE(bytes_unproven_, bytes_) << "new guests hold more bytes than all guests";
}

bool Crowd::MakeRoomFor(Guest& asking) {
  const auto above = [](std::size_t bytes, std::size_t bound) {
    return bound != 0 && bytes > bound;
  };
  for (;;) {
    // A guest that is known, or being handled, adds nothing to the bytes of the unproven.
    const bool of_unproven = asking.unproven() && above(bytes_unproven_, bounds_.bytes_unproven);
    if (!of_unproven && !above(bytes_, bounds_.bytes)) return true;
    Guest* guest = Heaviest(Scarce::kBytes, of_unproven ? Among::kUnproven : Among::kAll, &asking);
    if (guest == &asking) return false;
    // Before GiveWay(), which only closes or forgets, and must not call back.
    SetBytes(*guest, 0);
    guest->GiveWay(Scarce::kBytes);
  }
}

Crowd::Guest::Guest(Crowd& crowd, const std::string& address)
    : crowd_(crowd),
      place_(crowd.guests_.insert(crowd.guests_.end(), this)),
      share_(crowd.shares_.try_emplace(address).first),
      since_(crowd.clock_.Now()) {
  if (share_->second.connections++ == 0) OnServed(*this);
}

Crowd::Guest::~Guest() { Leave(); }

void Crowd::Guest::Leave() {
  if (!here_) return;
  here_ = false;
  crowd_.SetBytes(*this, 0);
  crowd_.guests_.erase(place_);
  const Share& left = share_->second;
  CHECK_GT(left.connections, 0U) << "a guest of an address that has none";
  if (--share_->second.connections > 0) return;
  CHECK_EQ(left.bytes, 0U) << "bytes of an address without guests";
  crowd_.shares_.erase(share_);
  CHECK_EQ(crowd_.shares_.empty(), crowd_.guests_.empty()) << "a guest without an address";
}

void Crowd::Guest::Become(State state) {
  if (!here_) return;
  crowd_.Prove(*this, [&] { state_ = state; });
  since_ = crowd_.clock_.Now();
}

void Crowd::Guest::SetKnown(bool known) {
  crowd_.Prove(*this, [&] { known_ = known; });
}

bool Crowd::Guest::Hold(std::size_t bytes) {
  if (!here_) return bytes == 0;
  const std::size_t before = bytes_;
  crowd_.SetBytes(*this, bytes);
  if (bytes <= before || crowd_.MakeRoomFor(*this)) return true;
  crowd_.SetBytes(*this, before);
  return false;
}

void Crowd::Guest::MustHold(std::size_t bytes) {
  if (!here_) return;
  const std::size_t before = bytes_;
  crowd_.SetBytes(*this, bytes);
  if (bytes > before) (void)crowd_.MakeRoomFor(*this);
}

}  // namespace http
