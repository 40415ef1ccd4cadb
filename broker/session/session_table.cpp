#include "session/session_table.h"

#include <algorithm>

#include <absl/strings/string_view.h>

#include "base/check.h"

namespace sluice::session {

Session& SessionTable::open(std::string_view route, int connection, std::uint64_t heartbeat_ms, std::uint64_t now_ms) {
  auto session = std::make_unique<Session>();
  Session& opened = *session;
  opened.id = SessionId{next_id_++};
  opened.route = route;
  opened.connection = connection;
  opened.heartbeat_ms = heartbeat_ms;
  opened.opened_ms = opened.heard_ms = opened.told_ms = now_ms;
  SLUICE_CHECK(by_route_.emplace(opened.route, &opened).second);
  if (connection >= 0) by_connection_[connection] = &opened;
  by_id_.emplace(raw(opened.id), std::move(session));
  const std::uint64_t check_ms = now_ms + heartbeat_ms;
  next_check_ms_ = std::min(next_check_ms_.value_or(check_ms), check_ms);
  return opened;
}

void SessionTable::close(SessionId id) {
  Session* const session = find(id);
  SLUICE_CHECK(session != nullptr);
  by_route_.erase(session->route);
  const auto bound = by_connection_.find(session->connection);
  if (bound != by_connection_.end() && bound->second == session) by_connection_.erase(bound);
  by_id_.erase(raw(id));
}

Session* SessionTable::find(std::string_view route) {
  // Debian's absl has a string_view of its own, which alone is hashed as std::string is.
  const auto found = by_route_.find(absl::string_view(route.data(), route.size()));
  return found == by_route_.end() ? nullptr : found->second;
}

Session* SessionTable::find(SessionId id) {
  const auto found = by_id_.find(raw(id));
  return found == by_id_.end() ? nullptr : found->second.get();
}

Session* SessionTable::find_connection(int connection) {
  const auto found = by_connection_.find(connection);
  return found == by_connection_.end() ? nullptr : found->second;
}

std::vector<SessionId> SessionTable::ids(SessionId after) const {
  std::vector<SessionId> ids;
  ids.reserve(by_id_.size());
  for (auto at = by_id_.upper_bound(raw(after)); at != by_id_.end(); ++at) ids.push_back(SessionId{at->first});
  return ids;
}

SessionTable::Due SessionTable::check(std::uint64_t now_ms) {
  Due due;
  if (!next_check_ms_ || now_ms < *next_check_ms_) return due;
  next_check_ms_.reset();
  const auto look_again = [this](std::uint64_t at_ms) {
    next_check_ms_ = std::min(next_check_ms_.value_or(at_ms), at_ms);
  };
  for (const auto& [id, session] : by_id_) {
    const std::uint64_t silent_ms = session->heard_ms + kHeartbeatsMissedMax * session->heartbeat_ms;
    if (now_ms >= silent_ms) {
      due.silent.push_back(session->id);
      continue;
    }
    std::uint64_t tell_ms = session->told_ms + session->heartbeat_ms;
    if (now_ms >= tell_ms) {
      due.to_tell.push_back(session->id);
      tell_ms = now_ms + session->heartbeat_ms;
    }
    look_again(std::min(silent_ms, tell_ms));
  }
  return due;
}

void SessionTable::forgive(std::uint64_t stalled_ms) {
  for (const auto& [id, session] : by_id_) session->heard_ms += stalled_ms;
}

}  // namespace sluice::session
