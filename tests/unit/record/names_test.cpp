#include <doctest/doctest.h>

#include <array>

#include "engine/counters.h"
#include "record/record.h"

using namespace sluice::record;

TEST_CASE("record names: each type is found by its name") {
  for (std::size_t i = 1; i <= kTypeCount; ++i) {
    const auto type = static_cast<Type>(i);
    CHECK_FALSE(name(type).empty());
    CHECK(find_type(name(type)) == type);
  }
  CHECK(name(Type::marks) == "marks");
  CHECK(name(Type::closed) == "closed");
  CHECK(name(Type::accepted) == "accepted");
  CHECK_FALSE(find_type("Closed").has_value());
}

TEST_CASE("record names: a record's type is its place in the variant") {
  CHECK(type_of(Marks{}) == Type::marks);
  CHECK(type_of(Published{}) == Type::published);
  CHECK(type_of(Producer{}) == Type::producer);
  CHECK(type_of(Closed{}) == Type::closed);
}

TEST_CASE("record names: the counters are those of the engine, in their order") {
  constexpr auto kEngine = std::to_array<std::string_view>({
#define SLUICE_COUNTER_NAME(name) #name,
      SLUICE_COUNTERS(SLUICE_COUNTER_NAME)
#undef SLUICE_COUNTER_NAME
  });
  REQUIRE(counter_names().size() == kEngine.size());
  for (std::size_t i = 0; i < kEngine.size(); ++i) CHECK(counter_names()[i] == kEngine[i]);
}
