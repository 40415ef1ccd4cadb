#include "cli/output.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

#include "cli/facts.h"
#include "cli/failure.h"

using namespace sluice::cli;

namespace {

template <class Print>
std::string printed(Output::Style style, const Print& print) {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&bytes, &size);
  {
    Output out(file, style);
    print(out);
  }
  std::fclose(file);
  const std::string text(bytes, size);
  std::free(bytes);
  return text;
}

void print_table(Output& out) {
  Table table({{"NAME"}, {"READY", true}});
  table.add({"jobs", "5"});
  table.add({"long-name", "1234567"});
  table.print(out);
}

}  // namespace

TEST_CASE("output: a table in a pipe is tab-separated, without headings or colour") {
  CHECK(printed({}, print_table) == "jobs\t5\nlong-name\t1234567\n");
}

TEST_CASE("output: a table on a terminal is aligned below headings") {
  CHECK(printed({.terminal = true, .color = false}, print_table) ==
        "NAME         READY\n"
        "jobs             5\n"
        "long-name  1234567\n");
  CHECK(printed({.terminal = true, .color = true}, print_table).starts_with("\033[1mNAME"));
}

TEST_CASE("output: facts have units on a terminal, and plain numbers in a pipe") {
  const auto print = [](Output& out) {
    Facts facts(out);
    facts.add_duration("lease_ms", 30'000);
    facts.add_size("memory_bytes", 65'536);
    facts.print();
  };
  CHECK(printed({}, print) == "lease_ms\t30000\nmemory_bytes\t65536\n");
  CHECK(printed({.terminal = true, .color = false}, print) == "lease   30s\nmemory  64KiB\n");
}

TEST_CASE("output: an object is one line, in the order written, whatever its bytes") {
  CHECK(json_line({{"z", 1}, {"a", "x\ny"}}) == "{\"z\":1,\"a\":\"x\\ny\"}");
  CHECK(json_line({{"odd", "\xFF"}}) == "{\"odd\":\"\xEF\xBF\xBD\"}");
}

TEST_CASE("output: a full disk is a failure, not silence") {
  std::FILE* const full = std::fopen("/dev/full", "w");
  REQUIRE(full != nullptr);
  Output out(full, {});
  out.line("x");
  CHECK_THROWS_AS(out.flush(), Failure);
  std::fclose(full);
}
