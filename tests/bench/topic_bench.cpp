// What it costs to find the queues of a topic: always the same queues match, beside more and more bindings that do not. The
// argument is the number of all bindings.

#include <benchmark/benchmark.h>

#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "engine/topic_index.h"

namespace {

using namespace sluice::engine;

const std::string kTopic = "orders.eu.customer-4711.paid";

class Bindings {
 public:
  void bind(const std::string& queue, const std::string& pattern) {
    auto& made = queues_.emplace_back(std::make_unique<Queue>());
    made->name = queue;
    SLUICE_CHECK(index.add(*made, pattern));
  }

  // Until there are `all`: patterns that share their beginnings with the topic, and with each other, and do not match.
  void fill(std::size_t all) {
    for (std::size_t i = 0; index.size() < all; ++i) {
      const std::string number = std::to_string(i);
      const std::string patterns[] = {"orders.eu.customer-" + number + "x.paid", "orders.eu.customer-" + number + "x.#",
                                      "orders.*.shop-" + number + ".paid", "region-" + number + ".*.*.paid",
                                      "orders.eu.*.refused-" + number};
      bind("other-" + number, patterns[i % std::size(patterns)]);
    }
  }

  TopicIndex index;

 private:
  std::vector<std::unique_ptr<Queue>> queues_;
};

void measure(benchmark::State& state, Bindings& bindings, std::size_t matches) {
  bindings.fill(static_cast<std::size_t>(state.range(0)));
  std::vector<Queue*> found;
  for (auto _ : state) {
    bindings.index.match(kTopic, found);
    SLUICE_CHECK(found.size() == matches);
    benchmark::DoNotOptimize(found.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(matches));
}

void one_match(benchmark::State& state) {
  Bindings bindings;
  bindings.bind("subscriber", "orders.*.*.paid");
  measure(state, bindings, 1);
}

void ten_matches_of_one_pattern(benchmark::State& state) {
  Bindings bindings;
  for (int i = 0; i < 10; ++i) bindings.bind("subscriber-" + std::to_string(i), "orders.eu.#");
  measure(state, bindings, 10);
}

void ten_matches_of_ten_patterns(benchmark::State& state) {
  Bindings bindings;
  const char* const patterns[] = {"#",
                                  "*.#",
                                  "*.*.*.*",
                                  "orders.#",
                                  "orders.*.*.paid",
                                  "orders.eu.#",
                                  "orders.eu.*.*",
                                  "orders.eu.*.paid",
                                  "orders.eu.customer-4711.#",
                                  "orders.eu.customer-4711.paid"};
  int number = 0;
  for (const char* const pattern : patterns) bindings.bind("subscriber-" + std::to_string(number++), pattern);
  measure(state, bindings, 10);
}

void no_match(benchmark::State& state) {
  Bindings bindings;
  measure(state, bindings, 0);
}

// Each time another topic, so that little is in the caches: a queue for each customer, and one of them is meant.
void one_match_of_any(benchmark::State& state) {
  const auto all = static_cast<std::size_t>(state.range(0));
  Bindings bindings;
  std::vector<std::string> topics;
  for (std::size_t i = 0; i < all; ++i) {
    const std::string customer = "orders.eu.customer-" + std::to_string(i);
    bindings.bind("subscriber-" + std::to_string(i), customer + ".#");
    topics.push_back(customer + ".paid");
  }
  std::vector<Queue*> found;
  std::size_t next = 0;
  for (auto _ : state) {
    next = (next + 7'919) % all;  // a prime: it comes by all of them
    bindings.index.match(topics[next], found);
    SLUICE_CHECK(found.size() == 1);
  }
}

// A topic of 39 words against 39 wildcards (and as many bindings as asked for beside).
void wildcards_only(benchmark::State& state) {
  std::string pattern = "*";
  std::string topic = "w";
  for (int i = 1; i < 39; ++i) {
    pattern += ".*";
    topic += ".w";
  }
  Bindings bindings;
  bindings.bind("subscriber", pattern);
  bindings.fill(static_cast<std::size_t>(state.range(0)));
  std::vector<Queue*> found;
  for (auto _ : state) {
    bindings.index.match(topic, found);
    SLUICE_CHECK(found.size() == 1);
  }
}

void bind_and_unbind(benchmark::State& state) {
  Bindings bindings;
  bindings.fill(static_cast<std::size_t>(state.range(0)));
  Queue queue;
  queue.name = "subscriber";
  for (auto _ : state) {
    SLUICE_CHECK(bindings.index.add(queue, "orders.eu.customer-4711.*"));
    SLUICE_CHECK(bindings.index.remove(queue, "orders.eu.customer-4711.*"));
  }
}

BENCHMARK(no_match)->Arg(10)->Arg(1'000)->Arg(100'000);
BENCHMARK(one_match)->Arg(10)->Arg(1'000)->Arg(100'000);
BENCHMARK(ten_matches_of_one_pattern)->Arg(10)->Arg(1'000)->Arg(100'000);
BENCHMARK(ten_matches_of_ten_patterns)->Arg(10)->Arg(1'000)->Arg(100'000);
BENCHMARK(one_match_of_any)->Arg(10)->Arg(1'000)->Arg(100'000);
BENCHMARK(wildcards_only)->Arg(10)->Arg(1'000)->Arg(100'000);
BENCHMARK(bind_and_unbind)->Arg(10)->Arg(1'000)->Arg(100'000);

}  // namespace

BENCHMARK_MAIN();
