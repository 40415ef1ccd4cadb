#include "config/option.h"

#include <set>

#include <doctest/doctest.h>

using namespace sluice::config;

namespace {

std::string flag_of(const Option& option) { return option.flag(); }

}  // namespace

TEST_CASE("option: names are unique, and lower case with dashes") {
  std::set<std::string_view> names;
  for (const Option& option : options()) {
    CAPTURE(option.name);
    CHECK(names.insert(option.name).second);
    CHECK(option.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(find_option(option.name) == &option);
  }
  CHECK(find_option("nothing") == nullptr);
}

TEST_CASE("option: flag and variable follow from the name") {
  const Option* const option = find_option("max-attempts");
  REQUIRE(option != nullptr);
  CHECK(option->flag() == "--max-attempts");
  CHECK(option->environment() == "SLUICE_MAX_ATTEMPTS");
}

TEST_CASE("option: every row explains itself, by help or by what it waits for") {
  for (const Option& option : options()) {
    CAPTURE(option.name);
    CHECK(option.help.empty() == !option.later.empty());
    const bool is_setting = option.scope != Scope::flag_only && option.later.empty();
    CHECK(bool{option.set != nullptr} == is_setting);
    CHECK(bool{option.get != nullptr} == is_setting);
  }
}

TEST_CASE("option: every default is read back by its own rule as the same value") {
  for (const Option& option : options()) {
    if (option.get == nullptr || option.name == "config") continue;  // no file has no spelling
    CAPTURE(option.name);
    Settings settings;
    const auto texts = option.get(settings);
    CHECK_FALSE(option.set(settings, texts).has_value());
    CHECK(option.get(settings) == texts);
  }
}

TEST_CASE("option: a near name is suggested, a far one is not") {
  CHECK(suggestion("--leaze", flag_of) == "; did you mean --lease?");
  CHECK(suggestion("--max_attempts", flag_of) == "; did you mean --max-attempts?");
  CHECK(suggestion("--wholly-different", flag_of).empty());
  CHECK(suggestion(std::string(100'000, 'x'), flag_of).empty());
}
