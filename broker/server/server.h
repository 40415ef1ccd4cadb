#pragma once
// server/server.h: the loop. turn() is the way of every message, in one screen.
//
// Place    router -> sessions -> decode -> engine -> journal -> outbox -> router.
// Errors   what a peer does wrong is answered to that peer and counted.
// Threads  one: everything here belongs to the thread that calls run().
// Owns     sessions, engine, outbox; borrows clock, router, journal and logger, which outlive it.
// Source   spec/protocol.md sections 5, 6 and 11.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "durability/keeper.h"
#include "engine/engine.h"
#include "engine/records.h"
#include "io/clock.h"
#include "io/router.h"
#include "journal/journal.h"
#include "log/limiter.h"
#include "log/logger.h"
#include "outbox/outbox.h"
#include "server/drain.h"
#include "server/memory.h"
#include "server/server_counters.h"
#include "session/session_table.h"
#include "wire/codec.h"

namespace sluice::server {

struct ServerOptions {
  engine::EngineOptions engine;
  outbox::OutboxOptions outbox;
  std::uint64_t sessions_max = 10'000;
  std::uint64_t heartbeat_ms = 5'000;
  std::uint64_t malformed_max = 100;  // frames a session
  std::uint64_t drain_timeout_ms = 10'000;
  // Of bodies. With a journal what is beyond stays on disk; without one it is refused. 0: no limit.
  std::uint64_t memory_bytes = 0;
  std::string version;
};

class Server {
 public:
  // A journal that keeps bytes comes with what was read from it: recover() before the first turn.
  Server(const ServerOptions& options, io::Clock& clock, io::Router& router, journal::Journal& journal,
         log::Logger& logger);

  // The error is for people: the records contradict each other.
  tl::expected<durability::Restored, std::string> recover(durability::Restorer& restorer);

  enum class Next : std::uint8_t { turn, look_for_signals, stop, failed };
  // One turn: waits until there is something to do, then does it. Says what the caller is to do next; `stop`: drained, and
  // everything is durable; `failed`: see failure().
  Next turn();
  // One line for people, once what is kept can be trusted no more.
  std::optional<std::string> failure() const;
  // A request to stop came: drain; the second one stops at once.
  void stop();

 private:
  io::Ready wait();
  std::int64_t wait_ms();
  void notice_stall(std::uint64_t now_ms, std::uint64_t planned_ms);
  void handle_events();
  void close_leaving();
  // True if the socket may hold more.
  bool receive_frames();
  void receive(const io::Received& received);
  void receive_unknown(const io::Received& received);
  void refuse(session::Session& session, const wire::DecodeError& error);

  void open_session(const io::Received& received, const wire::Hello& hello);
  void close_session(SessionId id, std::string_view why);
  // Tells the peer, then closes.
  void end_session(SessionId id, ErrorCode code, const std::string& text);
  void check_sessions();
  // What the turn caused is appended; true: there is more to do at once.
  bool record();
  void hold_publishes();
  void note_untold_leases();
  void tell_leases();
  void send();

  void apply(session::Session& session, const wire::ClientFrame& frame);
  void request(session::Session& session, const wire::Request& request);
  Result<wire::Map> info(const session::Session& session, engine::Arguments& arguments);
  Result<wire::Map> drain(const session::Session& session, engine::Arguments& arguments);
  Result<wire::Map> list_sessions(const session::Session& session, engine::Arguments& arguments);
  Result<wire::Map> close_session_on_request(const session::Session& session, engine::Arguments& arguments);
  bool refused_by_drain(session::Session& session, const wire::ClientFrame& frame);
  bool drained();

  // The turn's time, and how far on it is by now: what came in meanwhile counts from there.
  engine::Now now() const { return {time_.steady_ms, time_.wall_ms, clock_.steady_ms_up() - time_.steady_ms}; }

  ServerOptions options_;
  io::Clock& clock_;
  io::Router& router_;
  journal::Journal& journal_;
  log::Logger& logger_;
  log::Limiter peer_log_;                           // what peers can cause at will
  engine::NoRecords counted_;                       // without a journal
  std::unique_ptr<durability::Recorder> recorder_;  // with one
  outbox::Outbox outbox_;
  engine::Engine engine_;
  std::unique_ptr<durability::Keeper> keeper_;  // with one
  session::SessionTable sessions_;
  MemoryTrimmer memory_;
  ServerCounters counters_;
  Drain drain_;
  io::Time time_;  // of this turn
  std::uint64_t started_ms_;
  std::uint64_t records_seen_ = 0;
  // Leases below `next` are told when `sequence` is durable.
  struct Untold {
    Sequence sequence;
    LeaseId next;
    std::uint64_t since_ms;
  };
  std::deque<Untold> untold_;
  bool closed_ = false;                 // the journal has its last record
  std::uint64_t disk_deadline_ms_ = 0;  // for it to be durable
  std::optional<std::string> stuck_;    // it was not
  std::vector<SessionId> closing_;      // at the end of the turn
  // Sessions whose connection closed, in order of time.
  struct Leaving {
    SessionId session;
    std::uint64_t until_ms;
  };
  std::deque<Leaving> leaving_;
  bool busy_ = false;  // there is more to do: the next turn must not wait
  std::uint32_t turns_unwaited_ = 0;
};

}  // namespace sluice::server
