#pragma once
// model/command.h: one thing that a peer does, for engine and model alike.
//
// Owns     the text that its frame points into.

#include <cstdint>
#include <deque>
#include <string>
#include <variant>

#include "wire/frames.h"

namespace sluice::model {

struct Open {
  std::string producer;
};
struct Close {};
// The operator wants the broker to end: nothing is handed out any more.
struct Drain {};
// A PUBLISH that cannot be decoded.
struct BadPublish {
  std::uint64_t first_sequence = 0;
  std::uint64_t count = 0;
};

struct Command {
  std::uint64_t session = 0;
  std::variant<Open, Close, Drain, BadPublish, wire::Publish, wire::Consume, wire::Cancel, wire::Settle, wire::Request>
      action;
  std::deque<std::string> texts;  // a deque: what it holds stays where it is

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

std::string shown(const Command& command);

}  // namespace sluice::model
