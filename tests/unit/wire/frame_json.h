#pragma once
// frame_json.h: the frames of the vectors, from JSON into the structs of wire/frames.h.
//
// Shapes   spec/vectors/README.md. Throws nlohmann's exceptions, or std::runtime_error, if the JSON is not a frame.
// Owns     the bytes that a frame's views point into; keep it as long as the frame.

#include <deque>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "wire/frames.h"

namespace sluice::wire {

class FrameJson {
 public:
  ClientFrame client_frame(const nlohmann::ordered_json& json);
  BrokerFrame broker_frame(const nlohmann::ordered_json& json);

 private:
  std::string_view keep(std::string bytes);
  std::string_view bin(const nlohmann::ordered_json& json);

  Publish publish(const nlohmann::ordered_json& json);
  Settle settle(const nlohmann::ordered_json& json);
  Deliver deliver(const nlohmann::ordered_json& json);

  std::deque<std::string> kept_;
};

}  // namespace sluice::wire
