#include "cli/text.h"

namespace sluice::cli {
namespace {

// Length of the valid UTF-8 character at the front, 0 if there is none (RFC 3629: no surrogates, no overlong forms).
std::size_t utf8_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < bytes.size() && at(i) >= low && at(i) <= high;
  };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// C0, DEL, and C1 (which some terminals obey, encoded as c2 80 to c2 9f).
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    out += "\\x";
    out += kDigits[value >> 4];
    out += kDigits[value & 15];
  }
}

// Appends the character at the front in its escaped form; returns how many bytes it took.
std::size_t append_escaped(std::string& out, std::string_view bytes) {
  const std::size_t length = utf8_length(bytes);
  const std::string_view character = bytes.substr(0, length == 0 ? 1 : length);
  if (character == "\n") {
    out += "\\n";
  } else if (character == "\t") {
    out += "\\t";
  } else if (character == "\r") {
    out += "\\r";
  } else if (character == "\\") {
    out += "\\\\";
  } else if (length == 0 || is_control(character)) {
    append_hex(out, character);
  } else {
    out += character;
  }
  return character.size();
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t j) -> unsigned {
      return j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U;
    };
    const unsigned triple = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    out += kAlphabet[triple >> 18];
    out += kAlphabet[triple >> 12 & 63];
    out += i + 1 < bytes.size() ? kAlphabet[triple >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kAlphabet[triple & 63] : '=';
  }
  return out;
}

std::string escape(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) bytes.remove_prefix(append_escaped(out, bytes));
  return out;
}

std::string escape_cut(std::string_view bytes, std::size_t columns_max) {
  constexpr std::string_view kCut = "...";
  std::string out;
  std::size_t fits = 0;  // length of the longest text that leaves room for the mark
  while (!bytes.empty()) {
    bytes.remove_prefix(append_escaped(out, bytes));
    if (out.size() + kCut.size() <= columns_max) fits = out.size();
    if (out.size() > columns_max) return out.substr(0, fits) + std::string(kCut);
  }
  return out;
}

std::string one_line(std::string_view bytes, std::size_t bytes_max) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const std::string_view character = bytes.substr(0, length == 0 ? 1 : length);
    if (out.size() + character.size() > bytes_max) break;
    if (length == 0) {
      out += '?';
    } else if (is_control(character)) {
      out += ' ';
    } else {
      out += character;
    }
    bytes.remove_prefix(character.size());
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string group_digits(std::uint64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, ",");
  }
  return out;
}

std::string count_of(std::uint64_t number, std::string_view noun) {
  return group_digits(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace sluice::cli
