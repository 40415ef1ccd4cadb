#pragma once
// clients/cpp/message.h: one received frame's bytes.
//
// Owns     a zmq_msg_t. Not moved: small messages keep their bytes inside, and views into them are held.

#include <zmq.h>

#include <cstring>
#include <string_view>

#include "base/check.h"

namespace sluice::internal {

class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  ~Message() { zmq_msg_close(&message_); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  // The same bytes for keeping. libzmq lets frames of up to 8 KiB point into its receive buffer, which they would hold
  // in memory as a whole: those are copied. Larger ones own their memory: those are taken over.
  void take(Message& other) {
    if (other.view().size() > kSharedBytesMax) {
      SLUICE_CHECK(zmq_msg_move(&message_, &other.message_) == 0);
      return;
    }
    const std::string_view bytes = other.view();
    zmq_msg_close(&message_);
    SLUICE_CHECK(zmq_msg_init_size(&message_, bytes.size()) == 0);
    std::memcpy(zmq_msg_data(&message_), bytes.data(), bytes.size());
  }

  std::string_view view() const {
    zmq_msg_t* const message = const_cast<zmq_msg_t*>(&message_);  // zmq_msg_data() has no const form
    return {static_cast<const char*>(zmq_msg_data(message)), zmq_msg_size(message)};
  }
  bool more() const { return zmq_msg_more(&message_) != 0; }
  zmq_msg_t* get() { return &message_; }

 private:
  static constexpr std::size_t kSharedBytesMax = 8192;
  zmq_msg_t message_;
};

}  // namespace sluice::internal
