#pragma once
// wire/value.h: a MessagePack value of any shape, for what is rare (options, requests, results).
//
// Owns     its text and bytes.
// Source   spec/protocol.md section 3.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::wire {

class Value;
using Array = std::vector<Value>;

// Keys in the order of the frame; unique. What touches the entries is defined below, where Value is complete.
class Map {
 public:
  using Entries = std::vector<std::pair<std::string, Value>>;

  Map();
  Map(const Map&);
  Map(Map&&) noexcept;
  Map& operator=(const Map&);
  Map& operator=(Map&&) noexcept;
  ~Map();
  // All entries at once, without the search of set(). REQUIRES: no key twice.
  explicit Map(Entries unique_entries);

  // The value of `key`, or nullptr.
  const Value* find(std::string_view key) const;
  // Sets or replaces. Returns *this, to build a map in one expression.
  Map& set(std::string key, Value value);

  const Entries& entries() const { return entries_; }
  std::size_t size() const;
  bool empty() const;
  // The order of the keys counts.
  friend bool operator==(const Map& a, const Map& b);

 private:
  Entries entries_;
};

// Bytes, told apart from text.
struct Bin {
  std::string bytes;
  friend bool operator==(const Bin&, const Bin&) = default;
};

class Value {
 public:
  // Negative integers are int64, all others uint64, whatever the format on the wire.
  using Storage = std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string, Bin, Array, Map>;

  Value() = default;
  Value(std::nullptr_t) {}                                             // NOLINT: a literal is a value
  Value(bool v) : storage_(v) {}                                       // NOLINT
  Value(std::uint64_t v) : storage_(v) {}                              // NOLINT
  Value(std::uint32_t v) : storage_(static_cast<std::uint64_t>(v)) {}  // NOLINT
  Value(std::int64_t v);                                               // NOLINT
  Value(int v) : Value(static_cast<std::int64_t>(v)) {}                // NOLINT
  Value(double v) : storage_(v) {}                                     // NOLINT
  Value(std::string v) : storage_(std::move(v)) {}                     // NOLINT
  Value(std::string_view v) : storage_(std::string(v)) {}              // NOLINT
  Value(const char* v) : storage_(std::string(v)) {}                   // NOLINT
  Value(Bin v) : storage_(std::move(v)) {}                             // NOLINT
  Value(Array v) : storage_(std::move(v)) {}                           // NOLINT
  Value(Map v) : storage_(std::move(v)) {}                             // NOLINT

  const Storage& storage() const { return storage_; }
  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&storage_);
  }
  bool is_nil() const { return std::holds_alternative<std::monostate>(storage_); }
  friend bool operator==(const Value& a, const Value& b) { return a.storage_ == b.storage_; }

 private:
  Storage storage_;
};

inline Map::Map() = default;
inline Map::Map(const Map&) = default;
inline Map::Map(Map&&) noexcept = default;
inline Map& Map::operator=(const Map&) = default;
inline Map& Map::operator=(Map&&) noexcept = default;
inline Map::~Map() = default;
inline std::size_t Map::size() const { return entries_.size(); }
inline bool Map::empty() const { return entries_.empty(); }

}  // namespace sluice::wire
