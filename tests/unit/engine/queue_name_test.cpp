#include "engine/queue_name.h"

#include <doctest/doctest.h>

namespace sluice::engine {
namespace {

TEST_CASE("C36 queue name: one rule for all names") {
  for (const char* name : {"a", "A", "0", "_", "jobs.eu-1:x@y", "jobs.dlq", "con", "_-"})
    CHECK_FALSE(queue_name_error(name).has_value());
  for (const char* name : {"", "-a", ".", "..", "a/b", "../../etc/x", "a b", "a\n", "x{y=\"z\"}", "\xff\xfe",
                           "\xf0\x9f\x98\x80", ".dlq", "@a"})
    CHECK(queue_name_error(name).has_value());
  CHECK(queue_name_error(std::string_view("a\0b", 3)).has_value());
}

TEST_CASE("queue name: 255 bytes are the limit, and a dead-letter queue of such a name has its suffix beside") {
  const std::string longest(255, 'x');
  CHECK_FALSE(queue_name_error(longest).has_value());
  CHECK(queue_name_error(longest + "x").has_value());
  CHECK_FALSE(queue_name_error(dead_letter_name(longest)).has_value());
  CHECK(queue_name_error(std::string(100'000, 'x')).has_value());
}

TEST_CASE("queue name: the error names the byte and where it is") {
  CHECK(*queue_name_error("ab/c") == "a queue name has letters, digits and . _ : @ - only, this one has '/' at byte 2");
  CHECK(queue_name_error("a\xff")->find("0xff") != std::string::npos);
}

}  // namespace
}  // namespace sluice::engine
