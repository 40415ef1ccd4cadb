#include "wire/tape.h"

#include <bit>
#include <cmath>

#include <msgpack.hpp>

#include "wire/codec.h"

namespace sluice::wire {
namespace {

constexpr std::size_t kRoomFirst = 256;

// msgpack::parse calls this once a value and knows no limit of its own, so every limit is here.
class TapeVisitor : public msgpack::null_visitor {
 public:
  TapeVisitor(std::vector<Token>& room, std::size_t bytes)
      : room_(room), next_(room.data()), end_(room.data() + room.size()), bytes_left_(bytes) {}

  ScanError error() const { return error_; }
  std::size_t size() const { return static_cast<std::size_t>(next_ - room_.data()); }

  bool visit_nil() { return add_number(Kind::nil, 0); }
  bool visit_boolean(bool v) { return add_number(Kind::boolean, v ? 1 : 0); }
  bool visit_positive_integer(std::uint64_t v) { return add_number(Kind::uint, v); }
  bool visit_negative_integer(std::int64_t v) {
    // The signed formats may carry a positive number.
    return add_number(v < 0 ? Kind::negative : Kind::uint, static_cast<std::uint64_t>(v));
  }
  bool visit_float32(float v) { return visit_float64(static_cast<double>(v)); }
  bool visit_float64(double v) { return add_number(Kind::real, std::bit_cast<std::uint64_t>(v)); }
  bool visit_str(const char* data, std::uint32_t count) { return add_view(Kind::str, data, count); }
  bool visit_bin(const char* data, std::uint32_t count) { return add_view(Kind::bin, data, count); }
  bool visit_ext(const char*, std::uint32_t) { return refuse(ScanError::ext); }
  bool start_array(std::uint32_t count) { return add_container(Kind::array, count, count); }
  bool start_map(std::uint32_t count) { return add_container(Kind::map, count, std::uint64_t{2} * count); }
  bool end_array() { return leave(); }
  bool end_map() { return leave(); }
  void parse_error(std::size_t, std::size_t) { error_ = ScanError::bad_format; }
  void insufficient_bytes(std::size_t, std::size_t) { error_ = ScanError::truncated; }

 private:
  bool refuse(ScanError error) {
    error_ = error;
    return false;
  }

  // Each value is at least one byte and its contents: what is left is never less than the truth.
  Token& add(Kind kind, std::size_t bytes) {
    if (next_ == end_) [[unlikely]]
      grow();
    bytes_left_ -= bytes;
    next_->kind = kind;
    return *next_++;
  }

  [[gnu::cold, gnu::noinline]] void grow() {
    const std::size_t used = size();
    room_.resize(used == 0 ? kRoomFirst : used * 2);
    next_ = room_.data() + used;
    end_ = room_.data() + room_.size();
  }

  bool add_number(Kind kind, std::uint64_t number) {
    add(kind, 1).number = number;
    return true;
  }

  bool add_view(Kind kind, const char* data, std::uint32_t count) {
    Token& token = add(kind, std::size_t{1} + count);
    token.count = count;
    token.data = count == 0 ? "" : data;  // the parser gives no address for an empty text
    return true;
  }

  // Everything that open containers still promise must fit in the bytes left and in the limit of values, so a stated
  // count is refused before anything is done by it. This also keeps the number of tokens within kValuesMax.
  bool add_container(Kind kind, std::uint32_t count, std::uint64_t children) {
    if (depth_ == kDepthMax) return refuse(ScanError::too_deep);
    const std::uint64_t promised = promised_ + children;
    const std::uint64_t missing = promised - size() - 1;
    if (missing + 1 > bytes_left_) return refuse(ScanError::truncated);
    add(kind, 1).count = count;
    // Refused only now, so that an answer can say how many messages the refused frame stated.
    if (promised > kValuesMax) return refuse(ScanError::too_many_values);
    promised_ = promised;
    ++depth_;
    return true;
  }

  bool leave() {
    --depth_;
    return true;
  }

  std::vector<Token>& room_;
  Token* next_;
  Token* end_;
  std::size_t bytes_left_;
  std::uint64_t promised_ = 1;  // values: the root and all children of containers seen
  std::size_t depth_ = 0;
  ScanError error_ = ScanError::none;
};

}  // namespace

// Flattened: the parser's little functions are not worth a call each, and half of the time goes there without it.
[[gnu::flatten]] ScanError Tape::scan(std::string_view bytes) {
  size_ = 0;
  if (bytes.empty()) return ScanError::empty;
  std::size_t offset = 0;
  TapeVisitor visitor(room_, bytes.size());
  const bool parsed = msgpack::parse(bytes.data(), bytes.size(), offset, visitor);
  size_ = visitor.size();
  if (!parsed) return visitor.error();
  return offset == bytes.size() ? ScanError::none : ScanError::trailing;
}

std::size_t Tape::skip(std::size_t at) const {
  // Counted, not recursive: the nesting of a frame is never the nesting of our calls.
  const std::span<const Token> all = tokens();
  for (std::uint64_t pending = 1; pending > 0 && at < all.size(); ++at) pending += all[at].children() - 1;
  return at;
}

}  // namespace sluice::wire
