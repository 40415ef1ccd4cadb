#include "config/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace sluice::config {
namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kIpc = "ipc://";
// sun_path has 108 bytes, the last one 0.
constexpr std::size_t kIpcPathBytesMax = 107;
constexpr std::size_t kHostBytesMax = 255;

constexpr std::string_view kRule = "an address is tcp://HOST:PORT (an IPv6 host in brackets) or ipc://PATH";

tl::unexpected<Error> refuse(std::string_view address, std::string_view detail) {
  std::string text(kRule);
  text.append(", not '").append(address).append("' (").append(detail).append(")");
  return fail(ErrorCode::bad_field, std::move(text));
}

bool is_port(std::string_view text) {
  if (text == "*") return true;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool is_ipv6(std::string_view text) {
  in6_addr ignored{};
  return inet_pton(AF_INET6, std::string(text).c_str(), &ignored) == 1;
}

bool is_host(std::string_view text) {
  if (text == "*") return true;
  if (text.starts_with('[') && text.ends_with(']')) return is_ipv6(text.substr(1, text.size() - 2));
  return !text.empty() && text.size() <= kHostBytesMax && std::ranges::all_of(text, is_host_character);
}

std::string_view host_of(std::string_view tcp_address) {
  const std::string_view rest = tcp_address.substr(kTcp.size());
  return rest.substr(0, rest.rfind(':'));
}

Result<void> check_tcp(std::string_view address) {
  const std::string_view rest = address.substr(kTcp.size());
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return refuse(address, "the port is missing");
  if (!is_port(rest.substr(colon + 1))) return refuse(address, "a port is 0 to 65535, or * for any free one");
  if (!is_host(rest.substr(0, colon))) return refuse(address, "not a host");
  return {};
}

Result<void> check_ipc(std::string_view address) {
  const std::string_view path = address.substr(kIpc.size());
  if (path.empty()) return refuse(address, "the path is missing");
  if (path.size() > kIpcPathBytesMax) return refuse(address, "the path is longer than 107 bytes");
  // ZeroMQ would put a socket under a name of its own choice that nobody is told.
  if (path == "*") return refuse(address, "give the path in full");
  return {};
}

}  // namespace

Result<void> check_listen_address(std::string_view address) {
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!std::ranges::all_of(address, is_plain)) {
    return fail(ErrorCode::bad_field, std::string(kRule) + ", without spaces and of ASCII characters only");
  }
  if (address.starts_with(kTcp)) return check_tcp(address);
  if (address.starts_with(kIpc)) return check_ipc(address);
  return refuse(address, "unknown transport");
}

bool is_local_address(std::string_view address) {
  if (address.starts_with(kIpc)) return true;
  const std::string_view host = host_of(address);
  if (host == "localhost" || host == "[::1]") return true;
  // inet_pton takes dotted decimal only, so neither 127.example.com nor 0177.0.0.1 passes for 127.0.0.0/8.
  in_addr parsed{};
  return host.starts_with("127.") && inet_pton(AF_INET, std::string(host).c_str(), &parsed) == 1;
}

}  // namespace sluice::config
