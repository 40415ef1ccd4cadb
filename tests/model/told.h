#pragma once
// model/told.h: what one turn told the peers, in a shape that leaves out what the specification leaves open.
//
// Shapes   runs and ranges are taken apart, and what has no order by the specification is sorted. What a person reads
//          (the text of an error) is not compared, its number is.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "wire/value.h"

namespace sluice::model {

// Of one sequence: the id it was accepted under, or why it was refused.
struct Answer {
  std::uint64_t id = 0;
  std::uint64_t code = 0;  // 0: accepted
  friend auto operator<=>(const Answer&, const Answer&) = default;
};

struct Confirmed {
  std::uint64_t up_to = 0;
  std::vector<std::pair<std::uint64_t, Answer>> answers;  // by sequence
  friend bool operator==(const Confirmed&, const Confirmed&) = default;
};

struct Delivered {
  std::uint64_t id = 0;
  std::uint64_t position = 0;
  std::uint64_t count = 0;
  std::uint64_t priority = 0;
  std::uint64_t attempts = 0;
  std::string payload;
  std::string headers;
  wire::Map dead;
};

// All that one consumer got in the turn.
struct Handed {
  std::uint64_t first_lease = 0;  // the engine's; the model takes it over
  std::uint64_t lease_ms = 0;
  std::vector<Delivered> messages;
};

using ConsumerKey = std::pair<std::uint64_t, std::uint64_t>;  // session, and the client's number

struct SettledFrame {
  std::uint64_t session = 0;
  std::optional<std::uint64_t> request;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> exceptions;  // lease, code
  friend bool operator==(const SettledFrame&, const SettledFrame&) = default;
};

struct Replied {
  std::uint64_t session = 0;
  std::uint64_t request = 0;
  std::uint64_t code = 0;  // 0: the result
  wire::Map result;
};

struct Told {
  std::map<std::uint64_t, Confirmed> confirmed;  // by session
  std::map<ConsumerKey, Handed> handed;
  std::multiset<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>>
      lost;                                                                       // session, consumer, lease, code
  std::multiset<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> closed;  // session, consumer, code
  std::vector<SettledFrame> settled;
  std::vector<Replied> replies;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> errors;  // session, code
};

// Why they differ; empty if they do not.
std::string difference(const Told& engine, const Told& model);
// The same values whatever the order of keys.
bool same(const wire::Value& a, const wire::Value& b);
bool same(const wire::Map& a, const wire::Map& b);
std::string shown(const wire::Value& value);
std::string shown(const wire::Map& map);

}  // namespace sluice::model
