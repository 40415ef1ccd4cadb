#include "reason.h"

#include "wire/utf8.h"

namespace sluice::internal {
namespace {

constexpr std::size_t kReasonBytesMax = 1'024;

// Bytes of the character that `lead` begins; 1 for what begins none.
std::size_t character_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

}  // namespace

std::string clean_reason(std::string_view text) {
  if (text.size() <= kReasonBytesMax && wire::valid_utf8(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    std::string_view character = text.substr(0, character_bytes(text.front()));
    if (!wire::valid_utf8(character)) character = text.substr(0, 1);
    const bool valid = wire::valid_utf8(character);
    if (out.size() + character.size() > kReasonBytesMax) break;
    out += valid ? character : std::string_view("?");
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace sluice::internal
