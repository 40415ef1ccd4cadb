#include "validate.h"

#include <algorithm>
#include <array>
#include <string>

#include "convert.h"
#include "errors.h"
#include "wire/codec.h"
#include "wire/utf8.h"

namespace sluice::internal {
namespace {

constexpr std::size_t kQueueNameBytesMax = 255;
constexpr std::size_t kTopicBytesMax = 255;  // of a pattern too
constexpr std::size_t kClientNameBytesMax = 255;
constexpr Milliseconds kHeartbeatMin{100};
constexpr Milliseconds kHeartbeatMax{60'000};
constexpr std::uint32_t kPrefetchMax = 65'535;

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

constexpr std::array<bool, 256> queue_name_bytes() {
  std::array<bool, 256> allowed{};
  for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] = i < 128 && is_letter_or_digit(static_cast<char>(i));
  for (const char c : {'.', '_', ':', '@', '-'}) allowed[static_cast<unsigned char>(c)] = true;
  return allowed;
}

constexpr std::array<bool, 256> kQueueNameBytes = queue_name_bytes();

// For error texts: short, and nothing that a terminal would obey.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) out += c >= ' ' && c < 0x7f ? c : '?';
  return out + (text.size() > kShown ? "...'" : "'");
}

[[noreturn]] void refuse(const std::string& text) { throw make_local_error(kErrorBadArgument, text); }

void check_positive(const char* name, Milliseconds value) {
  if (value <= Milliseconds(0)) refuse(std::string(name) + " must be above 0 ms, got " + std::to_string(value.count()));
}

// No word is empty, and each consists of what queue names have; or is a wildcard, if `wildcards`, # only as the last one.
bool are_words(std::string_view text, bool wildcards) {
  if (text.empty() || text.size() > kTopicBytesMax) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view word = text.substr(0, dot);
    const bool last = dot == std::string_view::npos;
    const bool plain = !word.empty() &&
                       std::ranges::all_of(word, [](char c) { return kQueueNameBytes[static_cast<unsigned char>(c)]; });
    if (!plain && !(wildcards && (word == "*" || (word == "#" && last)))) return false;
    if (last) return true;
    text.remove_prefix(dot + 1);
  }
}

[[noreturn]] void refuse_topic(std::string_view text, const std::string& rule) {
  throw make_error(ErrorCode::bad_topic,
                   quoted(text) + " (" + std::to_string(text.size()) + " bytes) is not a " + rule);
}

std::uint64_t checked_time(const char* name, Milliseconds value, std::int64_t min) {
  const std::int64_t ms = value.count();
  if (ms < min || static_cast<std::uint64_t>(ms) > wire::kDelayMsMax) {
    refuse(std::string(name) + " must be " + std::to_string(min) + " to " + std::to_string(wire::kDelayMsMax) +
           " ms (10 years), got " + std::to_string(ms));
  }
  return static_cast<std::uint64_t>(ms);
}

}  // namespace

void check_queue_name(std::string_view name) {
  const bool good = !name.empty() && name.size() <= kQueueNameBytesMax &&
                    (is_letter_or_digit(name.front()) || name.front() == '_') &&
                    std::ranges::all_of(name, [](char c) { return kQueueNameBytes[static_cast<unsigned char>(c)]; });
  if (good) return;
  throw make_error(ErrorCode::bad_queue_name, quoted(name) + " (" + std::to_string(name.size()) +
                                                  " bytes) is not a queue name: 1 to 255 bytes of A-Z a-z " +
                                                  "0-9 . _ : @ -, the first one a letter, a digit or _");
}

void check_topic(std::string_view topic) {
  if (are_words(topic, false)) return;
  refuse_topic(topic, "topic: 1 to 255 bytes, words of A-Z a-z 0-9 _ : @ - divided by dots, none of them empty");
}

void check_pattern(std::string_view pattern) {
  if (are_words(pattern, true)) return;
  refuse_topic(
      pattern,
      "pattern: 1 to 255 bytes, words of A-Z a-z 0-9 _ : @ - divided by dots, none of them empty; a word may be " +
          std::string("*, the last one #"));
}

void check_url(std::string_view url) {
  constexpr std::string_view kTcp = "tcp://";
  constexpr std::string_view kIpc = "ipc://";
  const std::string rule = "url must be tcp://HOST:PORT or ipc://PATH, got " + quoted(url);
  if (std::ranges::any_of(url, [](char c) { return static_cast<unsigned char>(c) < 0x21 || c == 0x7f; })) refuse(rule);
  if (url.starts_with(kIpc)) {
    if (url.size() == kIpc.size()) refuse(rule);
    return;
  }
  if (!url.starts_with(kTcp)) refuse(rule);
  const std::string_view address = url.substr(kTcp.size());
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) refuse(rule);
  const std::string_view host = address.substr(0, colon);
  const std::string_view port = address.substr(colon + 1);
  const bool digits =
      !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  const int number = digits ? std::stoi(std::string(port)) : 0;
  if (number < 1 || number > 65'535) refuse("the port in the url must be 1 to 65535, got " + quoted(url));
  if (host.find_first_of("/*;") != std::string_view::npos) refuse(rule);
}

void check_client_options(const ClientOptions& options) {
  if (options.name.size() > kClientNameBytesMax)
    refuse("name must have at most 255 bytes, got " + std::to_string(options.name.size()));
  check_positive("connect_timeout", options.connect_timeout);
  check_positive("request_timeout", options.request_timeout);
  check_positive("reconnect_delay_min", options.reconnect_delay_min);
  if (options.close_timeout < Milliseconds(0)) refuse("close_timeout must not be negative");
  if (options.reconnect_delay_max < options.reconnect_delay_min) {
    refuse("reconnect_delay_max must be at least reconnect_delay_min");
  }
  if (options.heartbeat < kHeartbeatMin || options.heartbeat > kHeartbeatMax) {
    refuse("heartbeat must be 100 to 60000 ms, got " + std::to_string(options.heartbeat.count()));
  }
  if (options.batch_messages_max == 0) refuse("batch_messages_max must be at least 1, got 0");
  if (options.unconfirmed_messages_max == 0) refuse("unconfirmed_messages_max must be at least 1, got 0");
}

void check_consume(std::string_view queue, const ConsumeOptions& options) {
  if (options.topic.empty()) {
    check_queue_name(queue);
    if (!to_wire(options.policy).empty()) refuse("policy is for a topic's queue only; a named queue is declared");
  } else {
    if (!queue.empty())
      refuse("the queue must be empty with a topic, got " + quoted(queue) + "; a named queue is bound");
    check_pattern(options.topic);
  }
  if (options.prefetch == 0 || options.prefetch > kPrefetchMax) {
    refuse("prefetch must be 1 to 65535 messages, got " + std::to_string(options.prefetch));
  }
  if (options.prefetch_bytes == 0) refuse("prefetch_bytes must be at least 1, got 0");
  if (options.extend_up_to < Milliseconds(0)) refuse("extend_up_to must not be negative");
}

void check_encoded_headers(std::string_view headers) {
  if (headers.empty()) return;
  if (headers.size() > wire::kHeadersBytesMax) {
    throw make_error(ErrorCode::headers_too_large, "the headers have " + std::to_string(headers.size()) +
                                                       " bytes, at most " + std::to_string(wire::kHeadersBytesMax) +
                                                       " are allowed");
  }
  // One bad map would have the broker refuse its whole frame, and with it the messages of others.
  if (const auto map = wire::decode_map(headers); !map) throw make_error(ErrorCode::bad_headers, map.error().text);
}

void check_dedup_key(std::string_view key) {
  if (key.size() > wire::kDedupKeyBytesMax) {
    refuse("dedup_key must have at most " + std::to_string(wire::kDedupKeyBytesMax) + " bytes, got " +
           std::to_string(key.size()));
  }
  if (!wire::valid_utf8(key)) refuse("dedup_key must be UTF-8, got " + quoted(key));
}

void check_lease(Milliseconds lease) {
  const auto ms = static_cast<std::uint64_t>(lease.count());
  if (lease.count() >= 0 && ms >= wire::kLeaseMsMin && ms <= wire::kLeaseMsMax) return;
  refuse("a lease must be 100 ms to 24 h, got " + std::to_string(lease.count()) + " ms");
}

std::uint8_t checked_priority(int priority) {
  if (priority < 0 || priority > wire::kPriorityMax) refuse("priority must be 0 to 9, got " + std::to_string(priority));
  return static_cast<std::uint8_t>(priority);
}

std::uint64_t checked_delay(Milliseconds delay) { return checked_time("delay", delay, 0); }
std::uint64_t checked_ttl(Milliseconds ttl) { return checked_time("ttl", ttl, 1); }

}  // namespace sluice::internal
