#include "cli/bench/result.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "cli/bench/presets.h"

using namespace sluice::cli;

namespace {

BenchResult exact_result() {
  BenchResult result;
  result.parameters.messages = 1'000;
  result.produced = ProducersResult{1'000, 1'000, 5'000'000'000, 6'000'000'000, ""};
  ConsumersResult consumed;
  consumed.acked = 1'000;
  consumed.measured = 900;
  consumed.started_ns = 5'500'000'000;
  consumed.ended_ns = 7'000'000'000;
  consumed.latency = {1, 2, 3, 4, 5};
  result.consumed = consumed;
  return result;
}

}  // namespace

TEST_CASE("bench result: the rate is that of measured messages, from the first intended to the last acked") {
  const BenchResult result = exact_result();
  CHECK(result.seconds() == doctest::Approx(1.5));
  CHECK(result.rate() == doctest::Approx(600));
  CHECK(result.failure().empty());
}

TEST_CASE("bench result: with a topic each consumer is to get each message, and the rate is that of messages") {
  BenchResult result = exact_result();
  result.parameters.topic = true;
  result.parameters.consumers = 3;
  result.consumed->acked = 3'000;
  result.consumed->measured = 2'700;
  CHECK(result.rate() == doctest::Approx(600));
  CHECK(result.deliveries() == 2'700);
  CHECK(result.deliveries_rate() == doctest::Approx(1'800));
  CHECK(result.failure().empty());
  result.consumed->acked = 2'999;
  CHECK(result.failure() == "1 message confirmed but not received");
}

TEST_CASE("bench result: confirms that come after the last ack count") {
  BenchResult result = exact_result();
  result.produced->ended_ns = 8'500'000'000;
  CHECK(result.seconds() == doctest::Approx(3));
}

TEST_CASE("bench result: whatever is not exact is a failure that says what") {
  BenchResult lost = exact_result();
  lost.consumed->acked = 998;
  CHECK(lost.lost() == 2);
  CHECK(lost.failure() == "2 messages confirmed but not received");
  BenchResult doubled = exact_result();
  doubled.consumed->doubled = 1;
  CHECK(doubled.failure() == "1 message received twice");
  BenchResult altered = exact_result();
  altered.consumed->altered = 3;
  CHECK(altered.failure() == "3 messages altered");
  BenchResult unconfirmed = exact_result();
  unconfirmed.produced->published = 1'001;
  CHECK_FALSE(unconfirmed.failure().empty());
  BenchResult broken = exact_result();
  broken.produced->failure = "publishing: gone";
  CHECK(broken.failure() == "publishing: gone");
}

TEST_CASE("bench result: JSON has the contract's keys, and CSV as many cells as headings") {
  const Json json = json_of(exact_result());
  for (const char* const key : {"messages", "seconds", "rate", "latency_us", "parameters"})
    CHECK_MESSAGE(json.contains(key), key);
  for (const char* const key : {"p50", "p90", "p99", "p999", "max"})
    CHECK_MESSAGE(json["latency_us"].contains(key), key);
  for (const char* const key : {"producers", "consumers", "messages", "size_bytes", "prefetch", "batch", "rate",
                                "duration_ms", "queues", "work_ms", "warmup", "verify", "connections"})
    CHECK_MESSAGE(json["parameters"].contains(key), key);
  const auto cells = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  CHECK(cells(csv_heading()) == cells(csv_of(exact_result())));
}

TEST_CASE("bench result: halves survive the way between processes") {
  const ConsumersResult there = *exact_result().consumed;
  const ConsumersResult back = consumers_result_of(Json::parse(json_line(json_of(there))));
  CHECK(json_of(back) == json_of(there));
  const ProducersResult produced = *exact_result().produced;
  CHECK(json_of(producers_result_of(Json::parse(json_line(json_of(produced))))) == json_of(produced));
}

TEST_CASE("bench result: latency is in microseconds") {
  auto histogram = std::make_unique<Histogram>();
  for (int i = 0; i < 100; ++i) histogram->record(2'000'000);
  CHECK(latency_of(*histogram).p99_us == doctest::Approx(2'000).epsilon(0.01));
  CHECK(format_us(850) == "850 us");
  CHECK(format_us(3'200) == "3.20 ms");
  CHECK(format_us(1'250'000) == "1.25 s");
}

TEST_CASE("bench parameters: shares add up, and queues have names of their own") {
  BenchParameters parameters;
  parameters.messages = 10;
  parameters.producers = 3;
  CHECK(parameters.messages_of(0) + parameters.messages_of(1) + parameters.messages_of(2) == 10);
  CHECK(parameters.messages_of(0) == 4);
  parameters.queue = "q";
  CHECK(parameters.queue_names() == std::vector<std::string>{"q"});
  parameters.queues = 2;
  CHECK(parameters.queue_names() == std::vector<std::string>{"q-0", "q-1"});
}

TEST_CASE("bench parameters: consumers are spread evenly over the connections, and none is left over") {
  BenchParameters parameters;
  for (parameters.consumers = 1; parameters.consumers <= 12; ++parameters.consumers) {
    for (parameters.connections = 1; parameters.connections <= parameters.consumers; ++parameters.connections) {
      std::vector<std::uint32_t> on(parameters.connections);
      for (std::uint32_t i = 0; i < parameters.consumers; ++i) ++on.at(parameters.connection_of(i));
      const auto [least, most] = std::minmax_element(on.begin(), on.end());
      CAPTURE(parameters.consumers);
      CAPTURE(parameters.connections);
      CHECK(*least >= 1);
      CHECK(*most - *least <= 1);
    }
  }
}

TEST_CASE("bench parameters: a child process gets the same connections") {
  BenchParameters parameters;
  parameters.consumers = 7;
  parameters.connections = 3;
  const std::vector<std::string> flags = flags_of(parameters);
  const auto flag = std::find(flags.begin(), flags.end(), "--connections");
  REQUIRE(flag != flags.end());
  REQUIRE(flag + 1 != flags.end());
  CHECK(*(flag + 1) == "3");
}

TEST_CASE("bench result: text and CSV tell of shared connections") {
  BenchResult result = exact_result();
  result.parameters.consumers = 3;
  result.parameters.connections = 3;
  CHECK(text_of(result).find("3 consumers, 1 queue") != std::string::npos);
  CHECK(csv_of(result).ends_with(",3"));
  result.parameters.connections = 1;
  CHECK(text_of(result).find("3 consumers on 1 connection, 1 queue") != std::string::npos);
  CHECK(csv_of(result).ends_with(",1"));
  CHECK(csv_heading().ends_with(",connections"));
}

TEST_CASE("bench presets: those of the published tables are there") {
  REQUIRE(find_preset("small") != nullptr);
  CHECK(find_preset("small")->runs.size() == 5);
  CHECK(find_preset("large")->runs.front().consumers == 50);
  CHECK(find_preset("cliff")->runs.front().prefetch == 5);
  CHECK(find_preset("other") == nullptr);
}
