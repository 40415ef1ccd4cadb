#pragma once
// sim/oracle.h: holds the broker to the properties of the specification, by what it was sent and what it answered.
//
// Place    network -> [oracle]: sees each frame when the broker takes it, and when it leaves.
// Shapes   an operation without an answer before the broker died may have happened or not; both stay possible until there is evidence.
// Errors   Violation, which names the property.
// Threads  one.
// Source   spec/semantics.md, spec/protocol.md.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "book.h"
#include "journal/journal.h"
#include "network.h"
#include "wire/codec.h"

namespace sluice::sim {

class Oracle final : public Observer {
 public:
  explicit Oracle(World& world) : world_(world) {}

  // --- what actors send
  Sent& write(Sent sent);
  std::uint64_t written() const { return sent_.size(); }
  Sent* find(std::uint64_t serial) { return serial == 0 || serial > sent_.size() ? nullptr : &sent_[serial - 1]; }
  Queue& queue(const std::string& name);
  // Frames of this client follow no rule: credits and answers are not judged.
  void is_hostile(const Link& link);

  // --- what happens to the broker
  void started(journal::Journal& journal);
  void died();
  void turn_begins();
  void draining() { draining_us_ = world_.now_us(); }
  void wall_stepped() { ++wall_steps_; }

  void received(Link& link, std::string_view frame, std::size_t parts) override;
  void sent(Link& link, std::string_view frame) override;
  void told_closed(Link& link) override { holder_gone(link); }
  void found_gone(Link& link) override { holder_gone(link); }
  void held_up(Link& link) override;

  // When all is drained: what became of everything.
  void finish();
  // At a moment when nothing is under way: the credits that consumer.list shows.
  void compare_credits(const wire::Array& consumers);
  const std::map<std::string, Queue>& queues() const { return queues_; }
  // What waits for an answer, as text; empty if nothing does.
  std::string unanswered() const;

 private:
  Session* session_of(const Link& link);
  void end_session(Session& session, bool died);
  void holder_gone(Link& link);
  void maybe_acked(Copy& copy);
  void check_durable(const std::string& what, std::uint64_t turn);

  void take(Link& link, Session* session, const wire::ClientFrame& frame);
  void take_hello(Link& link, const wire::Hello& hello);
  void take_publish(Session& session, const wire::Publish& frame);
  void bind_copies(Sent& sent, bool first);
  bool waits_somewhere(const Sent& sent) const;
  bool may_be_bound(const std::string& name, const std::string& topic) const;
  void take_consume(Session& session, const wire::Consume& frame);
  void take_settle(Session& session, const wire::Settle& frame);
  void take_settlement(Session& session, const wire::Settlement& settlement, bool answered, Pending& pending);
  void take_request(Session& session, const wire::Request& frame);

  void gave(Link& link, const wire::BrokerFrame& frame);
  void gave_welcome(Link& link, const wire::Welcome& welcome);
  void gave_confirm(Session& session, const wire::Confirm& confirm);
  void accepted(Session& session, std::uint64_t sequence, std::uint64_t id);
  void refused(Session& session, std::uint64_t sequence, const wire::ErrorBody& error);
  Session::Publication answered(Session& session, std::uint64_t sequence);
  void gave_reply(Session& session, const wire::Reply& reply);
  void replied(const Pending& pending, const wire::Map& result);
  bool binding_changes(const std::pair<std::string, std::string>& binding) const;
  void note_bindings(const wire::Map& result);
  void check_queue(const wire::Map& map, std::uint64_t asked_at);
  void gave_settled(Session& session, const wire::Settled& settled);
  void extended(Lease& lease, const Pending::Part& part);
  void settled(Lease& lease, bool newest);
  void gave_lost(Session& session, const wire::LeaseLost& lost);

  void gave_deliver(Link& link, Session& session, const wire::Deliver& frame);
  Copy& check_content(const wire::Delivery& delivery, Consumer& consumer);
  Copy& copy_in(Sent& sent, Queue& queue);
  bool share_id(Sent& owner, Sent& other);
  bool take_over_id(Sent& owner, Sent& first);
  static bool is_late(const Copy& copy, std::uint64_t lease);
  void check_lease(Session& session, Copy& copy, std::uint64_t lease);
  void check_life(const wire::Delivery& delivery, Copy& copy);
  void check_times(const Link& link, Copy& copy);
  void check_order(Link& link, const wire::Delivery& delivery, Copy& copy, Consumer& consumer);
  void check_dead(const wire::Delivery& delivery, Copy& copy);
  void use_credit(Consumer& consumer, const wire::Delivery& delivery);

  void check_turn_order();
  void forget_order(Queue& place, bool for_good);
  void ready(Copy& copy);
  void not_ready(Copy& copy);
  void finish_copy(Sent& sent, Copy& copy, std::map<Queue*, std::uint64_t>& missing);
  bool has_excuse(const Sent& sent, const Queue& queue) const;
  void finish_queue(Queue& queue, std::uint64_t missing);

  World& world_;
  journal::Journal* journal_ = nullptr;
  std::uint64_t lives_ = 0;               // of the broker
  std::uint64_t event_ = 1;               // frames seen
  std::uint64_t turn_ = 0;                // of the broker's loop, over all its lives
  std::uint64_t first_turn_ = 0;          // of this life
  std::vector<std::uint64_t> turn_ends_;  // the journal's last sequence at the end of each turn of this life
  std::uint64_t made_after_us_ = 0;       // what leaves now was made after this
  bool all_safe_ = true;                  // when this turn began
  std::uint64_t draining_us_ = kNever;
  std::uint64_t wall_steps_ = 0;
  std::set<Queue*, ByName> handed_out_;  // this turn
  std::uint64_t last_lease_ = 0;         // the highest told
  std::uint64_t lease_floor_ = 0;        // the highest told in earlier lives

  struct KeyUse {
    std::uint64_t id = 0;
    std::uint64_t at_us = 0;
    std::uint64_t window_us = 0;
    std::uint64_t steps = 0;
    std::uint64_t emptied_at = 0;
  };

  std::deque<Sent> sent_;                                              // by serial
  std::map<std::tuple<bool, std::string, std::string>, KeyUse> keys_;  // by kind of target, target and key
  std::map<std::string, Queue> queues_;
  std::set<std::pair<std::string, std::string>> bound_;        // queue, pattern: certainly
  std::set<std::pair<std::string, std::string>> maybe_bound_;  // perhaps
  std::unordered_map<std::uint64_t, Sent*> by_id_;
  std::map<std::string, std::uint64_t> highest_;  // by producer: highest confirmed sequence
  std::deque<Session> sessions_;
  std::unordered_map<std::uint64_t, Session*> by_link_;
  std::unordered_map<std::uint64_t, wire::Hello> hellos_;  // by link: not answered yet
  std::unordered_map<std::uint64_t, Lease> leases_;
  std::set<std::uint64_t> hostile_;  // links
  std::uint64_t unnamed_ = 0;
};

}  // namespace sluice::sim
