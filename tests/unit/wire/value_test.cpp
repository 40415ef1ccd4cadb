#include "wire/value.h"

#include <doctest/doctest.h>

using namespace sluice::wire;

TEST_CASE("value: integers are told apart by their sign and not by how they were given") {
  CHECK(Value(7) == Value(std::uint64_t{7}));
  CHECK(Value(std::int64_t{7}) == Value(std::uint32_t{7}));
  CHECK(Value(0).get_if<std::uint64_t>() != nullptr);
  CHECK(Value(-7).get_if<std::int64_t>() != nullptr);
  CHECK(Value(-7) == Value(std::int64_t{-7}));
  CHECK_FALSE(Value(7) == Value(7.0));
}

TEST_CASE("value: bytes are not text, false is not nil") {
  CHECK_FALSE(Value("a") == Value(Bin{"a"}));
  CHECK_FALSE(Value(false) == Value());
  CHECK(Value(nullptr).is_nil());
  CHECK(Value("a") == Value(std::string("a")));
}

TEST_CASE("map: set keeps the order of first use and replaces") {
  Map map;
  map.set("b", 1).set("a", 2).set("b", 3);
  REQUIRE(map.size() == 2);
  CHECK(map.entries()[0].first == "b");
  CHECK(map.entries()[1].first == "a");
  REQUIRE(map.find("b") != nullptr);
  CHECK(*map.find("b") == Value(3));
  CHECK(map.find("c") == nullptr);
  CHECK(Map().empty());
}

TEST_CASE("map: equal maps have the same entries in the same order") {
  CHECK(Map().set("a", 1).set("b", 2) == Map().set("a", 1).set("b", 2));
  CHECK_FALSE(Map().set("a", 1).set("b", 2) == Map().set("b", 2).set("a", 1));
  CHECK_FALSE(Map().set("a", 1) == Map().set("a", 2));
  CHECK(Map({{"a", 1}, {"b", 2}}) == Map().set("a", 1).set("b", 2));
}
