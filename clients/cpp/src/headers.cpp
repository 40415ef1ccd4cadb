#include "headers.h"

#include <utility>

#include "validate.h"
#include "wire/codec.h"

namespace sluice::internal {
namespace {

struct ToWire {
  wire::Value operator()(const std::vector<std::byte>& bytes) const {
    return wire::Bin{std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
  }
  template <class T>
  wire::Value operator()(const T& value) const {
    return wire::Value(value);
  }
};

struct FromWire {
  Headers& out;
  const std::string& key;

  void operator()(const wire::Bin& bin) const {
    const auto* const first = reinterpret_cast<const std::byte*>(bin.bytes.data());
    out[key] = std::vector<std::byte>(first, first + bin.bytes.size());
  }
  void operator()(std::monostate) const {}
  void operator()(const wire::Array&) const {}
  void operator()(const wire::Map&) const {}
  template <class T>
  void operator()(const T& value) const {
    out[key] = value;
  }
};

}  // namespace

void encode_headers(const Headers& headers, wire::Buffer& out) {
  if (headers.empty()) return;
  std::vector<std::pair<std::string, wire::Value>> entries;
  entries.reserve(headers.size());
  for (const auto& [key, value] : headers) entries.emplace_back(key, std::visit(ToWire{}, value));
  const std::size_t before = out.size();
  wire::encode(wire::Map(std::move(entries)), out);
  check_encoded_headers(out.view().substr(before));
}

Headers decode_headers(std::string_view encoded) {
  Headers headers;
  if (encoded.empty()) return headers;
  const auto map = wire::decode_map(encoded);
  if (!map) return headers;
  for (const auto& [key, value] : map->entries()) {
    std::visit(FromWire{headers, key}, value.storage());
  }
  return headers;
}

}  // namespace sluice::internal
