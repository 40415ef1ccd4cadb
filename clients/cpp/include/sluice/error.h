#pragma once
// sluice/error.h: every failure of the client library.
//
// Source   the numbers, names and hints are those of spec/errors.json.

#include <cstdint>
#include <stdexcept>
#include <string>

namespace sluice {

// Thrown by calls that fail, and handed to callbacks. Codes below 1000 are the broker's (spec/errors.json); those from 1000
// on are the library's own, below.
class ClientError : public std::runtime_error {
 public:
  ClientError(int code, std::string name, const std::string& text, bool retry, std::string hint,
              std::uint64_t retry_after_ms = 0)
      : std::runtime_error(text),
        code_(code),
        name_(std::move(name)),
        hint_(std::move(hint)),
        retry_(retry),
        retry_after_ms_(retry_after_ms) {}

  int code() const { return code_; }
  const std::string& name() const { return name_; }
  // What a user can do about it.
  const std::string& hint() const { return hint_; }
  // The same call can succeed later, unchanged.
  bool retry() const { return retry_; }
  std::uint64_t retry_after_ms() const { return retry_after_ms_; }

 private:
  int code_;
  std::string name_;
  std::string hint_;
  bool retry_;
  std::uint64_t retry_after_ms_;
};

inline constexpr int kErrorTimeout = 1000;       // "timeout": no answer in time
inline constexpr int kErrorNotConnected = 1001;  // "not_connected": no broker at the address
inline constexpr int kErrorClosed = 1002;        // "closed": the client or the consumer was closed
inline constexpr int kErrorBadArgument = 1003;   // "bad_argument": refused before anything was sent
inline constexpr int kErrorConnectionLost =
    1004;  // "connection_lost": the request may or may not have been carried out

}  // namespace sluice
