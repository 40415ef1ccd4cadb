#include "wire/reader.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "wire/cat.h"
#include "wire/utf8.h"

namespace sluice::wire {
namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case Kind::nil:
      return "nil";
    case Kind::boolean:
      return token.number != 0 ? "true" : "false";
    case Kind::uint:
      return cat(token.number);
    case Kind::negative:
      return cat(static_cast<std::int64_t>(token.number));
    case Kind::real:
      return cat("the float ", std::to_string(token.real));
    case Kind::str:
      return cat("a str of ", token.count, " bytes");
    case Kind::bin:
      return cat("a bin of ", token.count, " bytes");
    case Kind::array:
      return cat("an array of ", token.count);
    case Kind::map:
      return cat("a map of ", token.count);
  }
  return "";
}

// Maps of a few keys, nearly all of them, are compared here without an allocation.
constexpr std::size_t kFewKeys = 16;

// Sorting keeps a map of 100,000 hostile keys from costing their square.
bool has_duplicate(std::span<std::string_view> keys) {
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) != keys.end();
}

}  // namespace

std::string Path::text() const {
  if (parent_ == nullptr) return std::string(name_);
  if (index_ != kNoIndex) return cat(parent_->text(), "[", index_, "]");
  return cat(parent_->text(), parent_->parent_ == nullptr ? " " : ".", name_);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShownMax = 64;
  std::string out = "'";
  for (const char c : text.substr(0, kShownMax)) out += c >= ' ' && c <= '~' ? c : '?';
  out += text.size() > kShownMax ? "...'" : "'";
  return out;
}

bool Reader::fail(ErrorCode code, const Path& path, std::string_view why) {
  error_.code = code;
  error_.text = cat(path.text(), ": ", why);
  return false;
}

bool Reader::refuse(const Path& path, std::string_view rule, const Token& token) {
  return fail(ErrorCode::bad_field, path, cat(rule, ", is ", describe(token)));
}

bool Reader::uint(const Path& path, std::uint64_t& out) {
  const Token& token = peek();
  if (token.kind != Kind::uint) return refuse(path, "must be an unsigned integer", token);
  out = token.number;
  ++at_;
  return true;
}

bool Reader::uint_within(const Path& path, std::uint64_t min, std::uint64_t max, std::uint64_t& out) {
  const Token& token = peek();
  if (token.kind != Kind::uint || token.number < min || token.number > max) {
    return refuse(path, cat("must be ", min, " to ", max), token);
  }
  out = token.number;
  ++at_;
  return true;
}

bool Reader::boolean(const Path& path, bool& out) {
  const Token& token = peek();
  if (token.kind != Kind::boolean) return refuse(path, "must be true or false", token);
  out = token.number != 0;
  ++at_;
  return true;
}

bool Reader::text(const Path& path, std::string_view& out) {
  const Token& token = peek();
  if (token.kind != Kind::str) return refuse(path, "must be a str", token);
  if (!valid_utf8(token.view())) return fail(ErrorCode::bad_field, path, "must be valid UTF-8, is not");
  out = token.view();
  ++at_;
  return true;
}

bool Reader::text(const Path& path, std::string& out) {
  std::string_view view;
  if (!text(path, view)) return false;
  out = view;
  return true;
}

bool Reader::bin(const Path& path, std::string_view& out) {
  const Token& token = peek();
  if (token.kind != Kind::bin) return refuse(path, "must be a bin", token);
  out = token.view();
  ++at_;
  return true;
}

bool Reader::array(const Path& path, std::size_t& count) {
  const Token& token = peek();
  if (token.kind != Kind::array) return refuse(path, "must be an array", token);
  count = token.count;
  ++at_;
  return true;
}

bool Reader::map(const Path& path, std::size_t& pairs) {
  const Token& token = peek();
  if (token.kind != Kind::map) return refuse(path, "must be a map", token);
  pairs = token.count;
  ++at_;
  return true;
}

// Recursive, but the tape's depth is at most kDepthMax.
bool Reader::value(const Path& path, Value& out) {
  const Token& token = peek();
  switch (token.kind) {
    case Kind::nil:
      out = Value();
      break;
    case Kind::boolean:
      out = token.number != 0;
      break;
    case Kind::uint:
      out = token.number;
      break;
    case Kind::negative:
      out = static_cast<std::int64_t>(token.number);
      break;
    case Kind::real:
      out = token.real;
      break;
    case Kind::bin:
      out = Bin{std::string(token.view())};
      break;
    case Kind::str: {
      std::string read;
      if (!text(path, read)) return false;
      out = std::move(read);
      return true;
    }
    case Kind::array: {
      Array read;
      if (!items(path, read, [this](const Path& at, Value& item) { return value(at, item); })) return false;
      out = std::move(read);
      return true;
    }
    case Kind::map: {
      Map read;
      if (!map(path, read)) return false;
      out = std::move(read);
      return true;
    }
  }
  ++at_;
  return true;
}

bool Reader::map(const Path& path, Map& out) {
  std::size_t pairs = 0;
  if (!map(path, pairs) || !unique_keys(path, at_, pairs)) return false;
  std::vector<std::pair<std::string, Value>> entries(pairs);
  for (auto& [key, read] : entries) {
    key = peek().view();
    ++at_;
    if (!value(path.child(key), read)) return false;
  }
  out = Map(std::move(entries));
  return true;
}

bool Reader::check(const Path& path) {
  const Token& token = peek();
  if (token.kind == Kind::str) {
    std::string_view ignored;
    return text(path, ignored);
  }
  ++at_;
  if (token.kind == Kind::map && !unique_keys(path, at_, token.count)) return false;
  for (std::size_t i = 0; i < token.children(); ++i) {
    if (!check(path.item(i))) return false;
  }
  return true;
}

// Also checks that keys are text.
bool Reader::unique_keys(const Path& path, std::size_t at, std::size_t pairs) {
  std::array<std::string_view, kFewKeys> few;
  std::vector<std::string_view> many(pairs > kFewKeys ? pairs : 0);
  const std::span<std::string_view> keys(pairs > kFewKeys ? many.data() : few.data(), pairs);
  for (std::string_view& name : keys) {
    const Token& key = tape_.tokens()[at];
    if (key.kind != Kind::str) return refuse(path, "keys must be str", key);
    if (!valid_utf8(key.view())) return fail(ErrorCode::bad_field, path, "keys must be valid UTF-8, one is not");
    name = key.view();
    at = tape_.skip(at + 1);
  }
  if (has_duplicate(keys)) return fail(ErrorCode::bad_field, path, "must not have a key twice");
  return true;
}

bool Fields::take(std::string_view name) {
  if (left_ == 0) return reader_.fail(ErrorCode::malformed_frame, path_.child(name), "is missing");
  --left_;
  return true;
}

bool Fields::given() {
  if (left_ == 0) return false;
  --left_;
  if (reader_.peek().kind != Kind::nil) return true;
  reader_.take(1);
  return false;
}

bool Fields::close() {
  for (; left_ > 0; --left_) reader_.skip();
  return true;
}

bool Fields::uint(std::string_view name, std::uint64_t& out) {
  return take(name) && reader_.uint(path_.child(name), out);
}

bool Fields::optional_uint(std::string_view name, std::uint64_t& out) {
  return !given() || reader_.uint(path_.child(name), out);
}

bool Fields::optional_uint(std::string_view name, std::optional<std::uint64_t>& out) {
  return !given() || reader_.uint(path_.child(name), out.emplace());
}

bool Fields::uint_or_nil(std::string_view name, std::optional<std::uint64_t>& out) {
  if (left_ == 0) return take(name);
  return optional_uint(name, out);
}

bool OptionKeys::open() {
  SLUICE_CHECK(names_.size() <= 32);
  if (!reader_.map(path_, pairs_)) return stop();
  left_ = pairs_;
  first_ = reader_.at_;
  return true;
}

bool OptionKeys::next(std::size_t& name) {
  while (left_ > 0) {
    --left_;
    const Token& key = reader_.peek();
    if (key.kind != Kind::str) {
      reader_.refuse(path_, "keys must be str", key);
      return stop();
    }
    reader_.take(1);
    const auto found = std::ranges::find(names_, key.view());
    if (found == names_.end()) {
      if (!unknown(key.view())) return stop();
      continue;
    }
    name = static_cast<std::size_t>(found - names_.begin());
    if (seen(name)) {
      reader_.fail(ErrorCode::bad_field, path_, cat("must not have the key ", quoted(*found), " twice"));
      return stop();
    }
    seen_ |= 1U << name;
    if (reader_.peek().kind != Kind::nil) return true;
    reader_.take(1);
  }
  return false;
}

bool OptionKeys::unknown(std::string_view key) {
  if (unknown_ == UnknownKeys::refuse) {
    return reader_.fail(ErrorCode::bad_field, path_, cat("does not know the key ", quoted(key)));
  }
  reader_.skip();
  // The table's bits say nothing of unknown keys: look at all keys, once.
  if (unknown_seen_) return true;
  unknown_seen_ = true;
  return reader_.unique_keys(path_, first_, pairs_);
}

DecodeError scan_failure(ScanError error, std::string_view what) {
  const auto with = [what](ErrorCode code, std::string_view why) {
    DecodeError failure;
    failure.code = code;
    failure.text = cat(what, ": ", why);
    return failure;
  };
  switch (error) {
    case ScanError::none:
      break;
    case ScanError::empty:
      return with(ErrorCode::malformed_frame, "is empty");
    case ScanError::truncated:
      return with(ErrorCode::malformed_frame, "ends inside a value");
    case ScanError::trailing:
      return with(ErrorCode::malformed_frame, "has bytes after its end");
    case ScanError::bad_format:
      return with(ErrorCode::malformed_frame, "holds the byte 0xc1, which is no format");
    case ScanError::ext:
      return with(ErrorCode::malformed_frame, "holds an extension type");
    case ScanError::too_many_values:
      return with(ErrorCode::too_many_values, cat("must hold at most ", kValuesMax, " values, holds more"));
    case ScanError::too_deep:
      return with(ErrorCode::too_many_values, cat("must nest at most ", kDepthMax, " deep, nests deeper"));
  }
  SLUICE_CHECK(error != ScanError::none);
  return {};
}

}  // namespace sluice::wire
