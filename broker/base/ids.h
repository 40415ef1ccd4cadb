#pragma once
// base/ids.h: numbers that must not be mixed up.

#include <cstdint>

namespace sluice {

enum class SessionId : std::uint64_t {};  // from 1; a broker's own number for one session, never a routing id
enum class MessageId : std::uint64_t {};  // from 1; kept for the message's whole life
enum class LeaseId : std::uint64_t {};    // from 1; never reused
enum class Sequence : std::uint64_t {};   // journal position; from 1, +1 a turn that wrote

template <class Id>
constexpr std::uint64_t raw(Id id) {
  return static_cast<std::uint64_t>(id);
}

}  // namespace sluice
