#include "server/server.h"

#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "wire/errors.h"

namespace sluice::server {
namespace {

// A turn takes at most this much from the socket, so that timers, deliveries and confirmations are never far away and one
// flooding peer cannot keep the others waiting.
constexpr std::size_t kTurnFramesMax = 256;
constexpr std::size_t kTurnBytesMax = 2 * 1024 * 1024;

// A peer that does not read is tried again this often: its socket gives no signal of its own.
constexpr std::int64_t kBlockedRetryMs = 5;
constexpr std::uint64_t kStallMs = 500;
// A lease told so much later than it began is longer by that.
constexpr std::uint64_t kLateMs = 50;
// Time that a refused producer is asked to wait.
constexpr std::uint64_t kRetryAfterMs = 200;
// What waits for a disk that does not keep up; beyond it publishes are refused.
constexpr std::uint64_t kPendingBytesMax = 256ULL * 1024 * 1024;
constexpr std::uint64_t kLastWordsMs = 3;
// For the last sync of a drain that used up its time.
constexpr std::uint64_t kLastSyncMs = 2'000;
constexpr std::uint32_t kTurnsUnwaitedMax = 16;
constexpr std::uint32_t kPeerLogLinesASecond = 10;
constexpr std::uint64_t kSessionsListMax = 500;  // of up to 700 bytes: fits any frame

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

namespace {

// Queues are durable where they can be.
engine::EngineOptions engine_options(const ServerOptions& options, const journal::Journal& journal) {
  engine::EngineOptions out = options.engine;
  out.policy.durable = journal.keeps_bytes();
  return out;
}

}  // namespace

Server::Server(const ServerOptions& options, io::Clock& clock, io::Router& router, journal::Journal& journal,
               log::Logger& logger)
    : options_(options),
      clock_(clock),
      router_(router),
      journal_(journal),
      logger_(logger),
      peer_log_(logger, kPeerLogLinesASecond),
      recorder_(journal.keeps_bytes() ? std::make_unique<durability::Recorder>() : nullptr),
      outbox_(options.outbox, router),
      engine_(engine_options(options, journal), recorder_ ? static_cast<engine::Records&>(*recorder_) : counted_,
              outbox_),
      time_(clock.now()),
      started_ms_(time_.steady_ms) {
  if (recorder_) keeper_ = std::make_unique<durability::Keeper>(options.memory_bytes, engine_, *recorder_, journal);
}

tl::expected<durability::Restored, std::string> Server::recover(durability::Restorer& restorer) {
  auto restored = keeper_->begin(restorer, now());
  engine_.hold_untold_leases();
  return restored;
}

Server::Next Server::turn() {
  const io::Ready ready = wait();
  if (ready.events) handle_events();
  if (keeper_) keeper_->begin_turn(now());
  hold_publishes();
  const bool more_frames = receive_frames();
  if (!more_frames) close_leaving();
  check_sessions();
  const bool more_due = !closed_ && engine_.finish_turn(now());  // what has no record must not be told
  const bool more_to_record = record();
  outbox_.seal(journal_.last());
  // After a wake the caller drains what woke: what became safe since this turn looked has no wake of its own, so the next one looks
  // before it waits.
  busy_ = more_frames || more_due || more_to_record || ready.wake;
  send();
  for (const SessionId id : std::exchange(closing_, {}))
    if (sessions_.find(id) != nullptr)
      end_session(id, ErrorCode::closed_by_operator, "an operator closed this session");
  memory_.look(engine_.message_bytes());
  if (drained()) return Next::stop;
  if (failure()) return Next::failed;
  return ready.wake ? Next::look_for_signals : Next::turn;
}

std::optional<std::string> Server::failure() const {
  if (stuck_) return stuck_;
  if (keeper_ && keeper_->failure()) return keeper_->failure();
  return journal_.failure();
}

bool Server::record() {
  if (keeper_) {
    if (closed_) return false;
    const bool more = keeper_->end_turn(now());
    note_untold_leases();
    return more;
  }
  if (counted_.count() != records_seen_) {
    records_seen_ = counted_.count();
    journal_.append({});
  }
  return false;
}

void Server::hold_publishes() {
  const auto error = [](ErrorCode code, std::string text) {
    return wire::error_body({code, std::move(text), kRetryAfterMs});
  };
  if (!journal_.has_room()) {
    engine_.hold_publishes(error(ErrorCode::storage_full, "the disk of the journal is full"));
  } else if (journal_.pending_bytes() > kPendingBytesMax) {
    engine_.hold_publishes(error(ErrorCode::memory_limit, "more than " + std::to_string(kPendingBytesMax) +
                                                              " bytes wait for the disk of the journal"));
  } else if (!keeper_ && options_.memory_bytes != 0 && engine_.message_bytes() >= options_.memory_bytes) {
    engine_.hold_publishes(error(ErrorCode::memory_limit, "messages take the " + std::to_string(options_.memory_bytes) +
                                                              " bytes of memory that they may"));
  } else {
    engine_.hold_publishes(std::nullopt);
  }
}

void Server::note_untold_leases() {
  const LeaseId next = engine_.next_lease();
  const bool known = untold_.empty() ? next == engine_.first_untold_lease() : untold_.back().next == next;
  if (!known) untold_.push_back({journal_.last(), next, time_.steady_ms});
}

// A lease is the holder's from the moment it is told: what the disk took is not taken from it.
void Server::tell_leases() {
  while (!untold_.empty() && untold_.front().sequence <= journal_.durable()) {
    const std::uint64_t late_ms = time_.steady_ms - untold_.front().since_ms;
    engine_.leases_told(untold_.front().next, late_ms >= kLateMs ? late_ms : 0);
    untold_.pop_front();
  }
}

io::Ready Server::wait() {
  io::Ready ready;
  const std::uint64_t before_ms = time_.steady_ms;
  const std::int64_t waits_ms = wait_ms();
  // To look at descriptors costs as much as a small turn: while there is work it is done now and then.
  if (!busy_ || ++turns_unwaited_ == kTurnsUnwaitedMax) {
    ready = router_.wait(waits_ms);
    turns_unwaited_ = 0;
  }
  time_ = clock_.now();
  notice_stall(time_.steady_ms, waits_ms < 0 ? time_.steady_ms : before_ms + static_cast<std::uint64_t>(waits_ms));
  return ready;
}

std::int64_t Server::wait_ms() {
  if (busy_) return 0;
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  std::uint64_t due_ms = kNever;
  const auto sooner = [&due_ms](std::uint64_t at_ms) { due_ms = std::min(due_ms, at_ms); };
  if (!closed_) sooner(engine_.next_due_ms().value_or(kNever));
  sooner(sessions_.next_check_ms().value_or(kNever));
  // Once the journal has its last record only the disk is waited for, which wakes the loop.
  if (drain_.draining()) sooner(closed_ ? disk_deadline_ms_ : drain_.deadline_ms());
  if (!leaving_.empty()) sooner(leaving_.front().until_ms);
  std::int64_t wait_ms = -1;
  if (due_ms != kNever) {
    const std::uint64_t now_ms = clock_.now().steady_ms;
    wait_ms = due_ms > now_ms ? static_cast<std::int64_t>(std::min<std::uint64_t>(due_ms - now_ms, 3'600'000)) : 0;
  }
  if (outbox_.has_blocked()) wait_ms = wait_ms < 0 ? kBlockedRetryMs : std::min(wait_ms, kBlockedRetryMs);
  return wait_ms;
}

// This turn began so much later than it should have: the process was stopped, or the machine was.
void Server::notice_stall(std::uint64_t now_ms, std::uint64_t planned_ms) {
  const std::uint64_t late_ms = now_ms > planned_ms ? now_ms - planned_ms : 0;
  if (late_ms < kStallMs) return;
  sessions_.forgive(late_ms);
  logger_.warn("server", "stalled", {{"late_ms", late_ms}});
}

void Server::handle_events() {
  const io::RouterEvents events = router_.events();
  counters_.connections_accepted += events.accepted;
  counters_.handshakes_failed += events.handshakes_failed;
  counters_.connections_closed += events.closed.size();
  for (const int connection : events.closed)
    if (const session::Session* session = sessions_.find_connection(connection))
      leaving_.push_back({session->id, time_.steady_ms + kLastWordsMs});
}

// The transport tells that a connection closed before it hands over the last messages that came in by it: acks and BYE of a
// client that ended well are among them.
void Server::close_leaving() {
  while (!leaving_.empty() && time_.steady_ms >= leaving_.front().until_ms) {
    const SessionId id = leaving_.front().session;
    leaving_.pop_front();
    if (sessions_.find(id) != nullptr) close_session(id, "closed");
  }
}

bool Server::receive_frames() {
  io::Received received;
  std::size_t bytes = 0;
  for (std::size_t count = 0; count < kTurnFramesMax && bytes < kTurnBytesMax; ++count) {
    if (!router_.receive(received)) return false;
    bytes += received.body.size();
    ++counters_.frames_received;
    if (!closed_) receive(received);  // after the journal's last record nothing can happen any more
  }
  return true;
}

void Server::receive(const io::Received& received) {
  session::Session* const session = sessions_.find(received.route);
  if (session == nullptr) return receive_unknown(received);
  session->heard_ms = time_.steady_ms;
  if (received.parts != 1) {
    ++counters_.frames_malformed;
    return refuse(*session, {ErrorCode::malformed_frame,
                             "a message has one part, this one has " + std::to_string(received.parts),
                             {},
                             {},
                             0});
  }
  const auto frame = wire::decode_client_frame(received.body);
  if (!frame) {
    ++counters_.frames_malformed;
    return refuse(*session, frame.error());
  }
  if (const auto* hello = std::get_if<wire::Hello>(&*frame)) return open_session(received, *hello);
  apply(*session, *frame);
}

void Server::receive_unknown(const io::Received& received) {
  // What happened to the connection's number before: a new peer may have it already.
  handle_events();
  const io::Route route(received.route);
  if (received.parts == 1) {
    const auto frame = wire::decode_client_frame(received.body);
    if (!frame) ++counters_.frames_malformed;
    if (frame) {
      if (const auto* hello = std::get_if<wire::Hello>(&*frame)) return open_session(received, *hello);
    } else if (frame.error().code != ErrorCode::malformed_frame) {
      outbox_.send_now(
          route, wire::ErrorFrame{wire::error_body(frame.error().code, frame.error().text), frame.error().request});
      return;
    }
  }
  ++counters_.frames_without_session;
  outbox_.send_now(
      route, wire::ErrorFrame{wire::error_body(ErrorCode::hello_required, "no session on this connection: say HELLO"),
                              std::nullopt});
}

// The answer goes where the peer looks for it.
void Server::refuse(session::Session& session, const wire::DecodeError& error) {
  peer_log_.log(time_.steady_ms, log::Level::warn, "session", "frame_refused",
                {{"session", raw(session.id)}, {"error", error_info(error.code).name}, {"text", error.text}});
  const wire::ErrorBody body = wire::error_body(error.code, error.text);
  if (error.first_sequence && error.message_count > 0) {
    engine_.refuse_publish(session.id, *error.first_sequence, error.message_count, body);
  } else if (error.request) {
    outbox_.reply(session.id, {*error.request, std::nullopt, body});
  } else {
    outbox_.error(session.id, {body, std::nullopt});
  }
  if (++session.malformed > options_.malformed_max)
    end_session(session.id, ErrorCode::malformed_frame,
                "more than " + std::to_string(options_.malformed_max) + " frames that cannot be decoded");
}

void Server::open_session(const io::Received& received, const wire::Hello& hello) {
  const io::Route route(received.route);
  const auto refuse_peer = [&](ErrorCode code, const std::string& text) {
    ++counters_.sessions_refused;
    peer_log_.log(time_.steady_ms, log::Level::warn, "session", "session_refused",
                  {{"client", hello.client}, {"error", error_info(code).name}, {"text", text}});
    outbox_.send_now(route, wire::ErrorFrame{wire::error_body(code, text), std::nullopt});
  };
  if (hello.protocol < wire::kProtocolVersion)
    return refuse_peer(ErrorCode::unsupported_protocol,
                       "this broker speaks protocol 1, not " + std::to_string(hello.protocol));
  if (const session::Session* old = sessions_.find(received.route)) close_session(old->id, "hello_again");
  // A new peer on a known connection: the old one is gone, and its event is still under way.
  if (const session::Session* old = sessions_.find_connection(received.connection))
    close_session(old->id, "connection_reused");
  if (drain_.draining()) return refuse_peer(ErrorCode::draining, "the broker is shutting down");
  if (sessions_.size() >= options_.sessions_max)
    return refuse_peer(ErrorCode::session_limit,
                       "the broker has " + std::to_string(options_.sessions_max) + " sessions, its limit");

  session::Session& session =
      sessions_.open(route, received.connection, hello.heartbeat_ms.value_or(options_.heartbeat_ms), time_.steady_ms);
  session.client = hello.client;
  session.agent = hello.agent;
  wire::Welcome welcome;
  welcome.session = raw(session.id);
  welcome.broker = "sluiced " + options_.version;
  welcome.heartbeat_ms = session.heartbeat_ms;
  welcome.publish_messages = options_.engine.window.messages;
  welcome.publish_bytes = options_.engine.window.bytes;
  welcome.frame_bytes_max = options_.outbox.frame_bytes_max;
  welcome.credit_messages_max = options_.engine.credit.messages_max;
  welcome.credit_bytes_max = options_.engine.credit.bytes_max;
  welcome.sync = journal_.sync();
  welcome.features = {"dedup", "topics", "ttl"};
  welcome.producer_sequence = engine_.open_session(session.id, hello.producer);
  outbox_.open(session.id, route);
  ++counters_.sessions_opened;
  peer_log_.log(time_.steady_ms, log::Level::info, "session", "session_opened",
                {{"session", raw(session.id)}, {"client", session.client}, {"agent", session.agent}});
  // Past the line, so that a peer which is dead already holds nothing for a moment.
  if (outbox_.send_now(route, welcome) == io::SendResult::gone) close_session(session.id, "closed");
}

void Server::close_session(SessionId id, std::string_view why) {
  const session::Session& session = *sessions_.find(id);
  peer_log_.log(time_.steady_ms, log::Level::info, "session", "session_closed",
                {{"session", raw(id)}, {"client", session.client}, {"reason", why}});
  ++counters_.sessions_closed;
  engine_.close_session(id, now());
  outbox_.close(id);
  sessions_.close(id);
}

void Server::end_session(SessionId id, ErrorCode code, const std::string& text) {
  outbox_.send_now(sessions_.find(id)->route, wire::Bye{static_cast<std::uint64_t>(code), text});
  close_session(id, error_info(code).name);
}

void Server::check_sessions() {
  const session::SessionTable::Due due = sessions_.check(time_.steady_ms);
  for (const SessionId id : due.silent) {
    ++counters_.sessions_silent;
    end_session(id, ErrorCode::heartbeat_missed, "nothing heard for three heartbeats");
  }
  for (const SessionId id : due.to_tell)
    if (session::Session* const session = sessions_.find(id)) {
      // Past the line: what waits there for the disk says nothing about us.
      session->told_ms = time_.steady_ms;
      outbox_.send_now(session->route, wire::Heartbeat{});
    }
  peer_log_.tick(time_.steady_ms);
}

void Server::send() {
  tell_leases();
  outbox_.send_through(mutant("confirm_before_sync") ? journal_.last() : journal_.durable());
  for (const SessionId id : outbox_.told())
    if (session::Session* session = sessions_.find(id)) session->told_ms = time_.steady_ms;
  outbox_.forget_told();
  for (const outbox::LostSession& lost : outbox_.take_lost()) {
    if (sessions_.find(lost.session) == nullptr) continue;
    if (lost.why == outbox::Lost::slow) {
      ++counters_.sessions_slow;
      end_session(lost.session, ErrorCode::slow_peer, "too many bytes wait for this peer");
    } else {
      close_session(lost.session, "closed");
    }
    busy_ = true;
  }
}

void Server::apply(session::Session& session, const wire::ClientFrame& frame) {
  if (drain_.draining() && refused_by_drain(session, frame)) return;
  std::visit(Overloaded{
                 [](const wire::Heartbeat&) {},
                 [&](const wire::Bye&) { close_session(session.id, "bye"); },
                 [](const wire::Hello&) {},  // opens a session: see receive()
                 [&](const wire::Publish& publish) { engine_.apply(session.id, publish, now()); },
                 [&](const wire::Consume& consume) { engine_.apply(session.id, consume); },
                 [&](const wire::Cancel& cancel) { engine_.apply(session.id, cancel); },
                 [&](const wire::Settle& settle) { engine_.apply(session.id, settle, now()); },
                 [&](const wire::Request& asked) { request(session, asked); },
             },
             frame);
}

// The verbs that concern connections and the process; all others are the engine's.
void Server::request(session::Session& session, const wire::Request& asked) {
  struct VerbRow {
    std::string_view name;
    Result<wire::Map> (Server::*run)(const session::Session&, engine::Arguments&);
  };
  static constexpr VerbRow kVerbs[] = {
      {"server.info", &Server::info},
      {"server.drain", &Server::drain},
      {"session.list", &Server::list_sessions},
      {"session.close", &Server::close_session_on_request},
  };
  const auto verb = std::ranges::find(kVerbs, std::string_view(asked.verb), &VerbRow::name);
  if (verb == std::end(kVerbs)) return engine_.apply(session.id, asked, now());
  const SessionId asker = session.id;  // it may close itself
  engine::Arguments arguments(asked.arguments);
  Result<wire::Map> result = (this->*verb->run)(session, arguments);
  wire::Reply reply;
  reply.request = asked.request;
  if (result) {
    reply.result = *std::move(result);
  } else {
    reply.error = wire::error_body(result.error());
  }
  outbox_.reply(asker, reply);
}

Result<wire::Map> Server::drain(const session::Session&, engine::Arguments& arguments) {
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  if (!drain_.draining()) stop();
  return wire::Map();
}

Result<wire::Map> Server::list_sessions(const session::Session&, engine::Arguments& arguments) {
  const std::uint64_t after = arguments.whole("after", 0, 0, ~std::uint64_t{0});
  const std::uint64_t limit = arguments.whole("limit", kSessionsListMax, 1, kSessionsListMax);
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  wire::Array found;
  bool more = false;
  for (const SessionId id : sessions_.ids(SessionId{after})) {
    more = found.size() == limit;
    if (more) break;
    const session::Session& listed = *sessions_.find(id);
    found.emplace_back(wire::Map()
                           .set("session", raw(id))
                           .set("client", listed.client)
                           .set("agent", listed.agent)
                           .set("consumers", engine_.consumers_of(id))
                           .set("connected_ms", time_.steady_ms - listed.opened_ms)
                           .set("idle_ms", time_.steady_ms - std::min(listed.heard_ms, time_.steady_ms))
                           .set("outbox_bytes", outbox_.bytes(id)));
  }
  wire::Map result;
  result.set("sessions", std::move(found)).set("more", more);
  return result;
}

// At the end of the turn, so that an answer to the session itself still leaves.
Result<wire::Map> Server::close_session_on_request(const session::Session&, engine::Arguments& arguments) {
  const std::uint64_t number = arguments.whole("session", 0, 1, ~std::uint64_t{0});
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  const bool known = number != 0 && sessions_.find(SessionId{number}) != nullptr;
  if (known) closing_.push_back(SessionId{number});
  wire::Map result;
  result.set("closed", known);
  return result;
}

Result<wire::Map> Server::info(const session::Session& session, engine::Arguments& arguments) {
  if (auto error = arguments.error()) return tl::unexpected<Error>(*std::move(error));
  wire::Map map = engine_.totals();
  wire::Map counters = *map.find("counters")->get_if<wire::Map>();
  counters_.add_to(counters);
  map.set("counters", std::move(counters))
      .set("version", options_.version)
      .set("protocol", wire::kProtocolVersion)
      .set("session", raw(session.id))
      .set("uptime_ms", time_.steady_ms - started_ms_)
      .set("sync", journal_.sync())
      .set("sessions", static_cast<std::uint64_t>(sessions_.size()))
      .set("memory_bytes", resident_bytes())
      .set("journal_bytes", journal_.bytes())
      .set("journal_pending_bytes", journal_.pending_bytes())
      .set("outbox_bytes", outbox_.bytes());
  return map;
}

void Server::stop() {
  busy_ = true;  // the next turn acts on it, without waiting
  if (drain_.draining()) {
    logger_.warn("server", "stopped_at_once");
    return drain_.stop_at_once();
  }
  drain_.begin(clock_.now().steady_ms, options_.drain_timeout_ms);
  engine_.pause_deliveries();
  logger_.info("server", "draining", {{"deadline_ms", options_.drain_timeout_ms}, {"leases", engine_.live_leases()}});
  for (const SessionId id : sessions_.ids()) outbox_.add(id, wire::Draining{options_.drain_timeout_ms});
}

bool Server::refused_by_drain(session::Session& session, const wire::ClientFrame& frame) {
  const wire::ErrorBody error = wire::error_body(ErrorCode::draining, "the broker is shutting down");
  if (const auto* publish = std::get_if<wire::Publish>(&frame)) {
    engine_.refuse_publish(session.id, publish->first_sequence, publish->messages.size(), error);
    return true;
  }
  if (const auto* consume = std::get_if<wire::Consume>(&frame)) {
    outbox_.reply(session.id, {consume->request, std::nullopt, error});
    return true;
  }
  return false;
}

bool Server::drained() {
  if (!drain_.over(time_.steady_ms, engine_.live_leases())) return false;
  if (keeper_ && !closed_) {
    keeper_->close(now());
    outbox_.seal(journal_.last());
    closed_ = true;
    disk_deadline_ms_ = std::max(drain_.deadline_ms(), time_.steady_ms + kLastSyncMs);
  }
  if (journal_.durable() < journal_.last()) {
    if (time_.steady_ms >= disk_deadline_ms_)
      stuck_ =
          "the disk of the journal did not end in time: stopped without its last records, none of which was confirmed";
    return false;
  }
  send();
  logger_.info("server", "drained", {{"leases_left", engine_.live_leases()}});
  for (const SessionId id : sessions_.ids()) end_session(id, ErrorCode::draining, "the broker is shutting down");
  return true;
}

}  // namespace sluice::server
