#include "record/record.h"

#include <array>

namespace sluice::record {
namespace {

constexpr std::array<std::string_view, kTypeCount> kTypeNames = {
    "marks",         "queue",     "queue_deleted", "bound",         "unbound",  "published", "message",
    "delivered",     "ended",     "returned",      "dead_lettered", "replayed", "producer",  "refused",
    "producer_gone", "dedup_key", "opened",        "closed",        "accepted"};

constexpr std::array<std::string_view, 15> kCounterNames = {
    "enqueued",      "delivered",    "acked",          "nacked",
    "released",      "rejected",     "expired_leases", "returned_by_disconnect",
    "dead_lettered", "dropped",      "expired",        "purged",
    "deduplicated",  "replayed_out", "refused"};

}  // namespace

std::span<const std::string_view> counter_names() { return kCounterNames; }

std::string_view name(Type type) { return kTypeNames[static_cast<std::size_t>(type) - 1]; }

std::optional<Type> find_type(std::string_view name) {
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<Type>(i + 1);
  }
  return std::nullopt;
}

std::string_view name(How how) {
  switch (how) {
    case How::acked:
      return "acked";
    case How::purged:
      return "purged";
    case How::dropped:
      return "dropped";
    case How::expired:
      return "expired";
  }
  return {};
}

std::string_view name(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::nack:
      return "nack";
    case Cause::lease_ran_out:
      return "lease_ran_out";
    case Cause::holder_gone:
      return "holder_gone";
    case Cause::release:
      return "release";
    case Cause::reject:
      return "reject";
  }
  return {};
}

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::rejected:
      return "rejected";
    case Reason::attempts:
      return "attempts";
    case Reason::overflow:
      return "overflow";
    case Reason::expired:
      return "expired";
  }
  return {};
}

std::string_view name(State state) {
  switch (state) {
    case State::ready:
      return "ready";
    case State::delayed:
      return "delayed";
    case State::leased:
      return "leased";
  }
  return {};
}

std::string_view name(Overflow overflow) {
  switch (overflow) {
    case Overflow::reject:
      return "reject";
    case Overflow::block:
      return "block";
    case Overflow::drop_oldest:
      return "drop_oldest";
    case Overflow::dead_letter_oldest:
      return "dead_letter_oldest";
  }
  return {};
}

std::string_view name(OnExpiry on_expiry) {
  switch (on_expiry) {
    case OnExpiry::dead_letter:
      return "dead_letter";
    case OnExpiry::drop:
      return "drop";
  }
  return {};
}

}  // namespace sluice::record
