#include "engine/settler.h"

#include "base/mutant.h"
#include "wire/errors.h"

namespace sluice::engine {
namespace {

void add_exception(wire::Settled& answer, std::uint64_t lease, ErrorCode code) {
  const auto number = static_cast<std::uint64_t>(code);
  if (!answer.exceptions.empty()) {
    wire::SettleException& last = answer.exceptions.back();
    if (last.code == number && lease != 0 && last.last_lease == lease - 1) {
      last.last_lease = lease;
      return;
    }
  }
  answer.exceptions.push_back({lease, lease, number});
}

}  // namespace

void Settler::settle(Peer& peer, const wire::Settle& frame, const Now& now) {
  wire::Settled answer;
  answer.request = frame.request;
  for (const wire::Settlement& settlement : frame.settlements) settle_range(peer, settlement, now, answer);
  for (const wire::Grant& given : frame.grants) grant(peer, given);
  if (frame.request || !answer.exceptions.empty()) effects_.settled(peer.session, answer);
}

void Settler::settle_range(Peer& peer, const wire::Settlement& settlement, const Now& now, wire::Settled& answer) {
  for (std::uint64_t number = settlement.first_lease; number <= settlement.last_lease; ++number) {
    Lease* const lease = leases_.find(LeaseId{number}, peer.session);
    if (lease == nullptr) {
      ++stale_;
      if (!mutant("stale_settle_accepted")) add_exception(answer, number, ErrorCode::stale);
    } else if (!settle_one(*lease, settlement, now)) {
      add_exception(answer, number, ErrorCode::lease_cap);
    }
    if (number == ~std::uint64_t{0}) break;
  }
}

// False: the lease stays as it was.
bool Settler::settle_one(Lease& lease, const wire::Settlement& settlement, const Now& now) {
  if (settlement.verb == wire::Verb::extend) {
    const std::uint64_t lease_ms = settlement.lease_ms.value_or(lease.consumer->queue->policy.lease_ms);
    return leases_.extend(lease, now, lease_ms);
  }
  dispatcher_.touch(*lease.consumer);
  switch (settlement.verb) {
    case wire::Verb::ack:
      attempts_.acked(lease);
      break;
    case wire::Verb::nack:
      attempts_.nacked(lease, settlement.reason, settlement.delay_ms, now);
      break;
    case wire::Verb::release:
      attempts_.released(lease, now);
      break;
    case wire::Verb::reject:
      attempts_.rejected(lease, settlement.reason, now);
      break;
    case wire::Verb::extend:
      break;
  }
  return true;
}

void Settler::grant(Peer& peer, const wire::Grant& given) {
  const auto found = peer.consumers.find(given.consumer);
  if (found == peer.consumers.end()) {
    effects_.error(peer.session,
                   {wire::error_body(ErrorCode::unknown_consumer,
                                     "grant: no consumer " + std::to_string(given.consumer) + " in this session"),
                    std::nullopt});
    return;
  }
  Consumer& consumer = *found->second;
  const std::uint64_t bytes_now = consumer.credit_bytes > 0 ? static_cast<std::uint64_t>(consumer.credit_bytes) : 0;
  const bool too_many = given.messages > limits_.messages_max - consumer.credit_messages;
  const bool too_large = given.bytes > limits_.bytes_max - bytes_now;
  if (too_many || too_large) {
    effects_.error(
        peer.session,
        {wire::error_body(
             ErrorCode::bad_credit,
             "grant to consumer " + std::to_string(given.consumer) + ": credit is at most " +
                 std::to_string(limits_.messages_max) + " messages and " + std::to_string(limits_.bytes_max) +
                 " bytes, it has " + std::to_string(consumer.credit_messages) + " and " + std::to_string(bytes_now) +
                 ", granted were " + std::to_string(given.messages) + " and " + std::to_string(given.bytes)),
         std::nullopt});
    return;
  }
  consumer.credit_messages += given.messages;
  if (mutant("credit_lost") && given.messages > 1) consumer.credit_messages -= 1;
  consumer.credit_bytes += static_cast<std::int64_t>(given.bytes);
  dispatcher_.touch(consumer);
}

}  // namespace sluice::engine
