#pragma once
// engine/name_bytes.h: the bytes that names of queues, topics and patterns are made of.
//
// Source   spec/semantics.md "Queue names", spec/topics.md section 1.

#include <cstdio>
#include <string>

namespace sluice::engine {

inline bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What a word has: all that a name has, but the dot that divides words.
inline bool is_word_byte(char c) { return is_letter_or_digit(c) || c == '_' || c == ':' || c == '@' || c == '-'; }

// A byte as an error's text shows it; whatever the byte is, the text is printable.
inline std::string shown(char c) {
  if (c > ' ' && c <= '~') return std::string("'") + c + "'";
  char text[8];
  std::snprintf(text, sizeof text, "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace sluice::engine
