#pragma once
// wire/reader.h: reads the values of a tape one after the other, and says what was wrong with which field.
//
// Place    only inside wire: tape -> [reader] -> decode_*.cpp.
// Shapes   every read takes where it is (for the error's text), gives the value through its last argument and returns
//          whether it could. After the first false nothing more is read.
// Threads  one.
// Source   spec/protocol.md section 3.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/codec.h"
#include "wire/tape.h"

namespace sluice::wire {

// Where in a frame: "PUBLISH messages[3].priority". A chain on the stack of the reading functions, made into text only
// when something is wrong.
class Path {
 public:
  explicit Path(std::string_view frame) : name_(frame) {}
  Path child(std::string_view name) const { return {this, name, kNoIndex}; }
  Path item(std::size_t index) const { return {this, {}, index}; }
  // What this is a child or an item of. REQUIRES: it is one.
  const Path& owner() const { return *parent_; }
  std::string text() const;

 private:
  static constexpr std::size_t kNoIndex = SIZE_MAX;
  Path(const Path* parent, std::string_view name, std::size_t index) : parent_(parent), name_(name), index_(index) {}

  const Path* parent_ = nullptr;
  std::string_view name_;
  std::size_t index_ = kNoIndex;
};

class Reader {
 public:
  // Both are borrowed. REQUIRES: the tape's scan had no error.
  Reader(const Tape& tape, DecodeError& error) : tape_(tape), error_(error) {}

  // REQUIRES: a value is left, which holds inside the counts of the containers read so far.
  const Token& peek() const { return tape_.tokens()[at_]; }
  // The tokens from here on, for fast paths; take() says how many were used.
  const Token* ahead() const { return tape_.tokens().data() + at_; }
  void take(std::size_t tokens) { at_ += tokens; }
  void skip() { at_ = tape_.skip(at_); }

  bool uint(const Path& path, std::uint64_t& out);
  bool uint_within(const Path& path, std::uint64_t min, std::uint64_t max, std::uint64_t& out);
  bool boolean(const Path& path, bool& out);
  bool text(const Path& path, std::string_view& out);
  bool text(const Path& path, std::string& out);
  bool bin(const Path& path, std::string_view& out);
  bool array(const Path& path, std::size_t& count);
  bool map(const Path& path, std::size_t& pairs);
  bool value(const Path& path, Value& out);
  bool map(const Path& path, Map& out);
  // Passes over a value that value() could read, without building it.
  bool check(const Path& path);

  // An array whose items are read by `read(path, item)`. The items are there: the tape has counted them.
  template <class Item, class Read>
  bool items(const Path& path, std::vector<Item>& out, Read read) {
    std::size_t count = 0;
    if (!array(path, count)) return false;
    out.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!read(path.item(i), out[i])) return false;
    }
    return true;
  }

  // Both record why and return false.
  [[gnu::cold]] bool fail(ErrorCode code, const Path& path, std::string_view why);
  // "path: rule, is <the value at `token`>".
  [[gnu::cold]] bool refuse(const Path& path, std::string_view rule, const Token& token);

 private:
  friend class OptionKeys;
  bool unique_keys(const Path& path, std::size_t at, std::size_t pairs);

  const Tape& tape_;
  DecodeError& error_;
  std::size_t at_ = 0;
};

// The fields of one array, in their order.
class Fields {
 public:
  Fields(Reader& reader, const Path& path) : reader_(reader), path_(path) {}

  bool open() { return reader_.array(path_, left_); }
  // Unknown fields at the end come from a newer peer.
  bool close();

  // A field without a default: `read(path)` reads it.
  template <class Read>
  bool required(std::string_view name, Read read) {
    return take(name) && read(path_.child(name));
  }
  // A field with a default, which stays when the field is nil or left out.
  template <class Read>
  bool optional(std::string_view name, Read read) {
    return !given() || read(path_.child(name));
  }

  bool uint(std::string_view name, std::uint64_t& out);
  bool optional_uint(std::string_view name, std::uint64_t& out);
  bool optional_uint(std::string_view name, std::optional<std::uint64_t>& out);
  // uint|nil without a default.
  bool uint_or_nil(std::string_view name, std::optional<std::uint64_t>& out);
  template <class Text>
  bool text(std::string_view name, Text& out) {
    return required(name, [&](const Path& path) { return reader_.text(path, out); });
  }

 private:
  bool take(std::string_view name);
  bool given();

  Reader& reader_;
  const Path& path_;
  std::size_t left_ = 0;
};

// What to do with keys that are not in the table.
enum class UnknownKeys : std::uint8_t { refuse, ignore };

// Finds the keys of one map in a table of at most 32 names.
class OptionKeys {
 public:
  OptionKeys(Reader& reader, const Path& path, std::span<const std::string_view> names, UnknownKeys unknown)
      : reader_(reader), path_(path), names_(names), unknown_(unknown) {}

  bool open();
  // The next known key whose value is not nil, as its place in the table; the value is what the reader reads next.
  // False at the end of the map, and after an error (failed()).
  bool next(std::size_t& name);
  bool failed() const { return failed_; }
  bool seen(std::size_t name) const { return (seen_ >> name & 1U) != 0; }

 private:
  bool stop() {
    failed_ = true;
    return false;
  }
  bool unknown(std::string_view key);

  Reader& reader_;
  const Path& path_;
  std::span<const std::string_view> names_;
  UnknownKeys unknown_;
  std::size_t first_ = 0;  // where the first key is
  std::size_t pairs_ = 0;
  std::size_t left_ = 0;
  std::uint32_t seen_ = 0;
  bool unknown_seen_ = false;
  bool failed_ = false;
};

// Reads a map by `read(place in names, path of the value)`. An option is called as if it were a field of what owns the
// map: "messages[3].priority".
template <class Read>
bool read_options(Reader& reader, const Path& path, std::span<const std::string_view> names, UnknownKeys unknown,
                  Read read) {
  OptionKeys keys(reader, path, names, unknown);
  if (!keys.open()) return false;
  for (std::size_t name = 0; keys.next(name);) {
    if (!read(name, path.owner().child(names[name]))) return false;
  }
  return !keys.failed();
}

// Why a scan failed, for a frame or (decode_map) one map called `what`.
DecodeError scan_failure(ScanError error, std::string_view what);

// Foreign text inside one of ours: in quotes, cut, and without characters that could write into a log.
std::string quoted(std::string_view text);

}  // namespace sluice::wire
