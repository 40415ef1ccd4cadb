// The table in the code against the one in spec/errors.json, which clients in other languages are made from.

#include "base/error.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

using namespace sluice;

namespace {

nlohmann::json spec_errors() {
  std::ifstream in(SLUICE_SOURCE_DIR "/spec/errors.json");
  REQUIRE(in.good());
  return nlohmann::json::parse(in).at("errors");
}

}  // namespace

TEST_CASE("errors: the table is that of spec/errors.json, entry by entry") {
  const nlohmann::json spec = spec_errors();
  const auto table = error_table();
  REQUIRE(table.size() == spec.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const nlohmann::json& entry = spec[i];
    CAPTURE(entry.dump());
    CHECK(static_cast<std::uint64_t>(table[i].code) == entry.at("code").get<std::uint64_t>());
    CHECK(table[i].name == entry.at("name").get<std::string>());
    CHECK(table[i].retry == entry.at("retry").get<bool>());
    CHECK(table[i].exit_code == entry.at("exit").get<int>());
    CHECK(table[i].text == entry.at("text").get<std::string>());
    CHECK(table[i].hint == entry.at("hint").get<std::string>());
  }
}

TEST_CASE("errors: numbers rise, names are there once, texts are not empty") {
  std::set<std::string_view> names;
  std::uint64_t last = 0;
  for (const ErrorInfo& info : error_table()) {
    CAPTURE(info.name);
    CHECK(static_cast<std::uint64_t>(info.code) > last);
    last = static_cast<std::uint64_t>(info.code);
    CHECK(names.insert(info.name).second);
    CHECK_FALSE(info.text.empty());
    CHECK_FALSE(info.hint.empty());
    CHECK(info.exit_code > 0);
  }
}

TEST_CASE("errors: every number is found, and no other") {
  std::set<std::uint64_t> known;
  for (const ErrorInfo& info : error_table()) {
    known.insert(static_cast<std::uint64_t>(info.code));
    CHECK(&error_info(info.code) == &info);
  }
  for (std::uint64_t number = 0; number <= 70'000; ++number) {
    const ErrorInfo* const found = find_error(number);
    if ((found != nullptr) != known.contains(number)) FAIL_CHECK("number " << number);
  }
  CHECK(find_error(UINT64_MAX) == nullptr);
  // Cut to 16 bits this would be 100.
  CHECK(find_error(65'536 + 100) == nullptr);
}
