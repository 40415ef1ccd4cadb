#pragma once
// session/session_table.h: all sessions, by route, by number and by connection; and who has fallen silent.
//
// Threads  one.
// Owns     the sessions.
// Source   spec/protocol.md sections 5 and 6.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include "session/session.h"

namespace sluice::session {

inline constexpr std::uint64_t kHeartbeatsMissedMax = 3;

class SessionTable {
 public:
  // REQUIRES: the route has no session.
  Session& open(std::string_view route, int connection, std::uint64_t heartbeat_ms, std::uint64_t now_ms);
  void close(SessionId id);

  Session* find(std::string_view route);
  Session* find(SessionId id);
  Session* find_connection(int connection);
  std::size_t size() const { return by_id_.size(); }
  // In order of number, those behind `after`.
  std::vector<SessionId> ids(SessionId after = SessionId{0}) const;

  // Who has been silent for three heartbeats, and to whom it is time to send one.
  struct Due {
    std::vector<SessionId> silent;
    std::vector<SessionId> to_tell;
  };
  Due check(std::uint64_t now_ms);
  // When check() may have something next; nullopt without sessions.
  std::optional<std::uint64_t> next_check_ms() const { return next_check_ms_; }
  // The broker did not run for that long: nobody is blamed for it.
  void forgive(std::uint64_t stalled_ms);

 private:
  std::uint64_t next_id_ = 1;
  absl::flat_hash_map<std::string, Session*> by_route_;
  absl::flat_hash_map<int, Session*> by_connection_;
  absl::btree_map<std::uint64_t, std::unique_ptr<Session>> by_id_;
  std::optional<std::uint64_t> next_check_ms_;
};

}  // namespace sluice::session
