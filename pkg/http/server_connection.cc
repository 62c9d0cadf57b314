#include "pkg/http/server_connection.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/base/scheduler.h"
#include "pkg/http/format.h"

namespace http {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxPipelined = std::size_t{64} << 10;
// Of a body: what must be sent within one timeout.
constexpr std::size_t kPiece = std::size_t{1} << 20;
// Heap during a handshake: measured, and rounded up.
constexpr std::size_t kHandshakeBytes = std::size_t{48} << 10;

// When a connection that begins now is old. Clients use their ports in turn, so the port spreads
// the ages.
base::TimePoint OldAt(base::TimePoint now, milliseconds age, std::uint16_t port) {
  constexpr int kSteps = 16;
  if (age.count() == 0) return base::TimePoint::max();
  return now + (age - age / 10 * (port % kSteps) / kSteps);
}

bool HasNoBody(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

Response PlainText(int status, std::string_view text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
          .body = std::string(text) + "\n"};
}

// Writes the answer to one request.
class ServerConnection::Writer final : public ResponseWriter {
 public:
  Writer(ServerConnection* owner, const Request& request, bool keep_alive, bool can_chunk)
      : owner_(*owner),
        head_only_(request.method == "HEAD"),
        keep_alive_(keep_alive),
        can_chunk_(can_chunk) {}

  base::Task<base::Result<void>> Send(Response response) override;
  base::Task<base::Result<void>> Start(int status, Headers headers) override;
  base::Task<base::Result<void>> Write(std::string bytes) override;
  base::Task<base::Result<void>> Finish() override;
  bool Keep(std::size_t bytes) override { return owner_.Hold(owner_.Takes() + bytes); }
  void Abort(bool reset) override;

  [[nodiscard]] bool answered() const { return state_ != State::kUnanswered; }
  // True if the whole answer was sent and another may follow on the connection.
  [[nodiscard]] bool reusable() const { return state_ == State::kComplete && keep_alive_; }
  [[nodiscard]] bool complete() const { return state_ == State::kComplete; }

 private:
  enum class State { kUnanswered, kStreaming, kComplete, kBroken };

  base::Task<base::Result<void>> SendAll(std::string bytes);
  [[nodiscard]] bool Last() { return !(keep_alive_ = keep_alive_ && !owner_.IsLast()); }

  ServerConnection& owner_;
  const bool head_only_;
  bool keep_alive_;
  const bool can_chunk_;  // false for HTTP/1.0, where closing the connection ends a stream
  bool has_body_ = true;
  State state_ = State::kUnanswered;
};

base::Task<base::Result<void>> ServerConnection::Writer::SendAll(std::string bytes) {
  if (state_ == State::kBroken) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable,
                          .message = owner_.peer_.address + ": connection closed"};
  }
  for (std::size_t sent = 0; sent < bytes.size(); sent += kPiece) {
    std::string piece =
        sent == 0 && bytes.size() <= kPiece ? std::exchange(bytes, {}) : bytes.substr(sent, kPiece);
    auto done =
        co_await owner_.connection_.Send(std::move(piece), In(owner_.options_.write_timeout));
    if (done) continue;
    state_ = State::kBroken;
    co_return done.error().Wrap("answer");
  }
  co_return base::Result<void>();
}

base::Task<base::Result<void>> ServerConnection::Writer::Send(Response response) {
  CHECK(state_ == State::kUnanswered) << "a request answered twice";
  state_ = State::kStreaming;
  // The request has been handled, and its bytes are free.
  owner_.MustHold(owner_.Takes() + response.body.size());
  if (!Last()) co_await owner_.idle_.BecomeIdle();
  Framing framing;
  if (!HasNoBody(response.status)) framing.content_length = response.body.size();
  std::string bytes = FormatHead(response.status, response.headers, framing, !Last());
  if (framing.content_length && !head_only_) bytes += response.body;
  // The body is in `bytes` now: free the copy.
  std::string().swap(response.body);
  owner_.SetKnown(response.status >= 200 && response.status <= 299);
  owner_.Become(Guest::State::kMoving);
  owner_.MustHold(owner_.Takes() + bytes.size());
  auto done = co_await SendAll(std::move(bytes));
  if (done) state_ = State::kComplete;
  co_return done;
}

base::Task<base::Result<void>> ServerConnection::Writer::Start(int status, Headers headers) {
  CHECK(state_ == State::kUnanswered) << "a request answered twice";
  state_ = State::kStreaming;
  has_body_ = !head_only_ && !HasNoBody(status);
  if (!can_chunk_) keep_alive_ = false;
  Framing framing;
  framing.chunked = can_chunk_ && !HasNoBody(status);
  std::string head = FormatHead(status, headers, framing, !Last());
  owner_.phase_ = Phase::kStreaming;
  ServerConnection* owner = &owner_;
  owner_.goodbye_task_.Spawn("http goodbye", [owner] { return owner->WatchForGoodbye(); });
  // Stop() came before the stream began: a stream would never end by itself.
  if (owner_.stopping_) owner_.handler_task_.Cancel();
  co_return co_await SendAll(std::move(head));
}

base::Task<base::Result<void>> ServerConnection::Writer::Write(std::string bytes) {
  CHECK(answered() && !complete()) << "Write() outside Start() and Finish()";
  if (!has_body_ || bytes.empty()) co_return co_await SendAll(std::string());
  std::string out = can_chunk_ ? FormatChunk(bytes) : std::move(bytes);
  co_return co_await SendAll(std::move(out));
}

base::Task<base::Result<void>> ServerConnection::Writer::Finish() {
  CHECK(answered() && !complete()) << "Finish() without Start(), or twice";
  auto done = co_await SendAll(std::string(has_body_ && can_chunk_ ? kLastChunk : ""));
  if (done) state_ = State::kComplete;
  co_return done;
}

void ServerConnection::Writer::Abort(bool reset) {
  state_ = State::kBroken;
  if (reset) {
    owner_.connection_.Reset();
  } else {
    owner_.connection_.Close();
  }
}

ServerConnection::ServerConnection(const ServerShared& shared, const std::string& address,
                                   std::shared_ptr<Socket> socket,
                                   std::shared_ptr<const TlsContext> tls)
    : Guest(shared.crowd, address),
      options_(shared.options),
      handler_(shared.handler),
      handshakes_(shared.handshakes),
      idle_(shared.idle_limit, address),
      turned_away_(shared.turned_away),
      connection_(std::move(socket)),
      tls_(std::move(tls)),
      handler_task_(connection_.socket().executor()),
      goodbye_task_(connection_.socket().executor()) {
  peer_.address = connection_.peer();
  old_at_ =
      OldAt(base::RealClock().Now(), options_.max_connection_age, connection_.socket().peer_port());
}

base::Task<void> ServerConnection::Run() {
  co_await base::DeferCancellation();
  const bool ready = co_await Handshake();
  while (ready && !stopping_) {
    auto request = co_await ReadRequest();
    if (!request) {
      co_await Refuse(request.error());
      break;
    }
    if (!*request) break;
    const bool more = co_await Answer(std::move(**request));
    if (!more) break;
  }
  if (secured_ && secured_->flooded()) ++turned_away_.malformed;
  connection_.Close();
}

bool ServerConnection::IsLast() const {
  if (stopping_ || draining_) return true;
  if (options_.max_requests_per_connection != 0 &&
      requests_ >= options_.max_requests_per_connection) {
    return true;
  }
  return old_at_ != base::TimePoint::max() && base::RealClock().Now() >= old_at_;
}

void ServerConnection::Stop() {
  stopping_ = true;
  // A request that has arrived is answered, even if it was not read yet.
  const bool asked = phase_ == Phase::kIdle && connection_.socket().HasArrivals();
  if ((phase_ == Phase::kHandshake || phase_ == Phase::kIdle) && !asked) connection_.Close();
  if (phase_ == Phase::kStreaming) handler_task_.Cancel();
}

// A client that is sending its request gets an answer. A client that does not read its answer
// cannot.
void ServerConnection::GiveWay(Crowd::Scarce what) {
  const bool tell = what == Crowd::Scarce::kBytes && phase_ == Phase::kReading;
  if (what == Crowd::Scarce::kConnections) ++turned_away_.crowded;
  if (what == Crowd::Scarce::kBytes && !tell) ++turned_away_.no_memory;
  if (!tell) return connection_.Close();
  gave_way_ = true;
  Forget();
  connection_.EndReceive();
}

// What a client sends while its answer is written does not excuse that it does not read.
bool ServerConnection::IsAwaited() const {
  const bool receives =
      phase_ == Phase::kHandshake || phase_ == Phase::kIdle || phase_ == Phase::kReading;
  return !awaits_turn_ && (!receives || !connection_.socket().HasArrivals());
}

void ServerConnection::StopNow() {
  stopping_ = true;
  handler_task_.Cancel();
  connection_.Close();
}

base::Task<bool> ServerConnection::Handshake() {
  if (!tls_) co_return true;
  const base::TimePoint deadline = In(options_.header_timeout);
  const auto turn = [this, deadline]() -> base::Task<base::Result<void>> {
    awaits_turn_ = true;
    auto come = co_await handshakes_.Turn(*this, connection_.socket().shared_from_this(), deadline);
    awaits_turn_ = false;
    co_return come;
  };
  // No memory for a handshake before the client has sent anything.
  auto spoken =
      co_await connection_.socket().Wait(Purpose::kReceive, Attempt::Kind::kWantRead, deadline);
  if (spoken) spoken = co_await turn();
  if (!spoken) {
    if (spoken.error().Is(base::ErrorCode::kTimeout)) ++turned_away_.slow;
    co_return false;
  }
  if (!Hold(kHandshakeBytes)) {
    ++turned_away_.no_memory;
    co_return false;
  }
  secured_ = TlsStream::Server(tls_, connection_.stream(), peer_.address);
  auto done = co_await connection_.StartTls(secured_, deadline, turn);
  if (!done) {
    if (done.error().Is(base::ErrorCode::kTimeout)) ++turned_away_.slow;
    VLOG(1) << "TLS handshake failed: " << done.error().message;
    // This log line helps those who did not give the API server its client certificate.
    LOG_IF_EVERY_N(WARNING, tls_->refuses_strangers(), 1000)
        << "refused a client without a trusted certificate, number " << google::COUNTER << ": "
        << done.error().message;
    co_return false;
  }
  PeerIdentity identity = secured_->Identity();
  peer_.client_common_name = std::move(identity.common_name);
  peer_.client_organizations = std::move(identity.organizations);
  co_return true;
}

base::Task<bool> ServerConnection::Answer(Request request) {
  CHECK(phase_ == Phase::kReading) << "a request is handled that was not read";
  CHECK(handler_task_.empty() && goodbye_task_.empty()) << "two requests are handled at once";
  phase_ = Phase::kHandling;
  Become(State::kInHand);
  ++requests_;
  Writer writer(this, request, parser_->keep_alive(), parser_->minor_version >= 1);
  parser_.reset();
  co_await RunHandler(std::move(request), writer);
  const bool stopped = co_await base::Stopping();
  if (stopped) co_return false;
  if (!writer.answered()) {
    LOG_IF(ERROR, !stopping_) << "the handler did not answer a request: peer=" << peer_.address;
    co_await writer.Send(PlainText(500, "the request was not answered"));
  }
  if (writer.reusable()) co_return true;
  // Without this, a client that is still sending would lose the answer to a reset.
  if (writer.complete()) co_await connection_.Linger(In(kLinger));
  co_return false;
}

base::Task<void> ServerConnection::RunHandler(Request request, Writer& writer) {
  ResponseWriter* answer = &writer;
  handler_task_.Spawn("http handler", [this, request = std::move(request), answer]() mutable {
    return handler_(std::move(request), peer_, *answer);
  });
  while (!handler_task_.empty()) {
    co_await handler_task_.Join();
    const bool stopped = co_await base::Stopping();
    if (stopped) handler_task_.Cancel();
  }
  while (!goodbye_task_.empty()) {
    goodbye_task_.Cancel();
    co_await goodbye_task_.Join();
  }
}

// While it is being answered, a client sends nothing, unless it disconnects or sends its next
// request early.
base::Task<void> ServerConnection::WatchForGoodbye() {
  co_await base::DeferCancellation();
  while (connection_.leftover().size() < kMaxPipelined) {
    const auto received = co_await connection_.Receive(base::TimePoint::max());
    if (!received && received.error().Is(base::ErrorCode::kCancelled)) co_return;
    if (!received || received->empty()) break;
    connection_.leftover().append(*received);
  }
  // A client that pipelines too much is not read any further; TCP stops it.
  if (connection_.leftover().size() < kMaxPipelined) handler_task_.Cancel();
}

}  // namespace http
