#include "engine/topic_index.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "engine/topic_pattern.h"

namespace sluice::engine {
namespace {

using Names = std::vector<std::string>;
using Pair = std::pair<std::string, std::string>;  // queue, pattern

// Queues at addresses that are in no order of name.
class Queues {
 public:
  Queue& operator[](const std::string& name) {
    for (Queue& queue : all_)
      if (queue.name == name) return queue;
    all_.emplace_back().name = name;
    return all_.back();
  }

 private:
  std::deque<Queue> all_;
};

Names matched(TopicIndex& index, std::string_view topic) {
  std::vector<Queue*> found = {nullptr};  // to be replaced
  index.match(topic, found);
  Names names;
  for (const Queue* queue : found) names.push_back(queue->name);
  return names;
}

std::vector<Pair> pairs(const BindingPage& page) {
  std::vector<Pair> out;
  for (const Binding* binding : page.bindings) out.emplace_back(binding->queue->name, binding->pattern);
  return out;
}

std::string joined(const Names& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ".") + word;
  return out;
}

std::string repeated(const std::string& word, std::size_t times) { return joined(Names(times, word)); }

// Few words and short: patterns overlap and share beginnings all the time. "ab" begins as "a" does.
rc::Gen<std::string> topics() {
  const auto length = rc::gen::inRange<std::size_t>(1, 6);
  return rc::gen::map(rc::gen::mapcat(length,
                                      [](std::size_t words) {
                                        return rc::gen::container<Names>(words,
                                                                         rc::gen::element<std::string>("a", "b", "ab"));
                                      }),
                      joined);
}

rc::Gen<std::string> patterns() {
  const auto length = rc::gen::inRange<std::size_t>(0, 5);
  const auto beginning = rc::gen::mapcat(length, [](std::size_t words) {
    return rc::gen::container<Names>(words, rc::gen::element<std::string>("a", "b", "ab", "*"));
  });
  return rc::gen::apply(
      [](Names words, std::string last) {
        words.push_back(std::move(last));
        return joined(words);
      },
      beginning, rc::gen::element<std::string>("a", "b", "*", "#"));
}

// The model: all pairs of queue and pattern, and matches() for each.
Names expected(const std::set<Pair>& model, const std::string& topic) {
  std::set<std::string> names;
  for (const auto& [queue, pattern] : model)
    if (matches(pattern, topic)) names.insert(queue);
  return {names.begin(), names.end()};
}

void check_change(TopicIndex& index, Queues& queues, std::set<Pair>& model) {
  const std::string name = *rc::gen::element<std::string>("q3", "q1", "q4", "q2", "q10");
  Queue& queue = queues[name];
  const int choice = *rc::gen::inRange(0, 10);
  if (choice < 6) {
    const std::string pattern = *patterns();
    RC_ASSERT(index.add(queue, pattern) == model.emplace(name, pattern).second);
  } else if (choice < 8 && !model.empty()) {
    const Pair victim = *std::next(model.begin(), *rc::gen::inRange<long>(0, static_cast<long>(model.size())));
    RC_ASSERT(index.remove(queues[victim.first], victim.second));
    model.erase(victim);
  } else if (choice == 8) {
    const std::string pattern = *patterns();
    RC_ASSERT(index.remove(queue, pattern) == (model.erase({name, pattern}) == 1));
  } else {
    const std::size_t removed = std::erase_if(model, [&](const Pair& pair) { return pair.first == name; });
    RC_ASSERT(index.remove_all(queue) == removed);
  }
}

// Beginnings of patterns, the empty one included: what the tree has nodes for.
std::size_t beginnings(const std::set<Pair>& model) {
  std::set<std::string> all = {""};
  for (const auto& [queue, pattern] : model)
    for (std::size_t at = 0; at != std::string::npos;) {
      at = pattern.find('.', at + 1);
      all.insert(pattern.substr(0, at));
    }
  return all.size();
}

TEST_CASE("C09 topic index: agrees with the rule for each pattern, whatever was bound and unbound before") {
  const bool holds = rc::check([] {
    TopicIndex index;
    Queues queues;
    std::set<Pair> model;
    const auto steps = *rc::gen::inRange(1, 80);
    for (int step = 0; step < steps; ++step) {
      check_change(index, queues, model);
      const std::string topic = *topics();
      RC_ASSERT(matched(index, topic) == expected(model, topic));
      RC_ASSERT(index.size() == model.size());
      RC_ASSERT(index.trie().node_count() == beginnings(model));
    }
    RC_ASSERT(pairs(index.page({}, 1'000)) == std::vector<Pair>(model.begin(), model.end()));
  });
  CHECK(holds);
}

TEST_CASE("C09 topic index: agrees with the table of the specification") {
  std::ifstream in(SLUICE_SOURCE_DIR "/spec/vectors/topics/matching.json");
  const auto table = nlohmann::json::parse(in);
  Queues queues;
  TopicIndex all;  // each pattern of the table has the queue of its name
  for (const auto& row : table)
    if (row.contains("matches")) all.add(queues[row.at("pattern")], row.at("pattern").get<std::string>());
  std::size_t rows = 0;
  for (const auto& row : table) {
    if (!row.contains("matches")) continue;
    CAPTURE(row.dump());
    TopicIndex alone;
    const std::string pattern = row.at("pattern");
    alone.add(queues[pattern], pattern);
    const bool wanted = row.at("matches");
    CHECK(matched(alone, row.at("topic").get<std::string>()) == (wanted ? Names{pattern} : Names{}));
    const Names among = matched(all, row.at("topic").get<std::string>());
    CHECK(std::count(among.begin(), among.end(), pattern) == (wanted ? 1 : 0));
    ++rows;
  }
  CHECK(rows >= 50);
}

TEST_CASE("C09 topic index: a queue with overlapping patterns, or bound twice to one, is matched once") {
  Queues queues;
  TopicIndex index;
  CHECK(index.add(queues["q"], "t.*"));
  CHECK(index.add(queues["q"], "t.1"));
  CHECK_FALSE(index.add(queues["q"], "t.1"));
  CHECK(index.add(queues["q"], "#"));
  CHECK(index.add(queues["q"], "t.#"));
  CHECK(index.add(queues["q"], "t.1.#"));
  CHECK(index.size() == 5);
  CHECK(matched(index, "t.1") == Names{"q"});
  CHECK(index.remove(queues["q"], "t.1"));
  CHECK_FALSE(index.remove(queues["q"], "t.1"));
  CHECK(matched(index, "t.1") == Names{"q"});
  CHECK(index.remove_all(queues["q"]) == 4);
  CHECK(matched(index, "t.1").empty());
}

TEST_CASE("topic index: queues come in order of name, whatever their addresses and the order of binding") {
  Queues queues;
  TopicIndex index;
  for (const char* name : {"m", "z", "a", "q10", "q9"}) index.add(queues[name], "x.*");
  CHECK(matched(index, "x.y") == Names{"a", "m", "q10", "q9", "z"});
  index.add(queues["b"], "#");
  index.add(queues["m"], "x.y");
  CHECK(matched(index, "x.y") == Names{"a", "b", "m", "q10", "q9", "z"});
}

TEST_CASE("topic index: what is unbound leaves no nodes, words or edges, and their places are used again") {
  Queues queues;
  TopicIndex index;
  index.add(queues["keeper"], "a.b");
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      const std::string word = std::to_string(round) + "-" + std::to_string(i);
      index.add(queues["q"], "a.b." + word + ".*." + word + ".#");
    }
    CHECK(index.trie().node_count() == 3 + 100 * 4);
    CHECK(index.trie().word_count() == 2 + 100);
    CHECK(index.trie().edge_count() == 2 + 100 * 2);
    CHECK(matched(index, "a.b." + std::to_string(round) + "-7.x." + std::to_string(round) + "-7") == Names{"q"});
    CHECK(index.remove_all(queues["q"]) == 100);
    CHECK(index.trie().node_count() == 3);
    CHECK(index.trie().word_count() == 2);
    CHECK(index.trie().edge_count() == 2);
    CHECK(matched(index, "a.b") == Names{"keeper"});
  }
}

TEST_CASE("topic index: patterns of a queue, and pages of all bindings, in order") {
  Queues queues;
  TopicIndex index;
  const std::vector<Pair> all = {{"jobs", "#"},  {"jobs", "a-b"}, {"jobs", "a.b"},
                                 {"jobs2", "a"}, {"mail", "*"},   {"mail", "z"}};
  for (const std::size_t i : {4u, 1u, 5u, 0u, 3u, 2u}) index.add(queues[all[i].first], all[i].second);
  CHECK(index.patterns(queues["jobs"]) == std::vector<std::string_view>{"#", "a-b", "a.b"});
  CHECK(index.patterns(queues["none"]).empty());

  for (std::size_t limit = 1; limit <= all.size() + 1; ++limit) {
    std::vector<Pair> seen;
    for (bool more = true; more;) {
      BindingFilter filter;
      if (!seen.empty()) filter = {.after_queue = seen.back().first, .after_pattern = seen.back().second};
      const BindingPage page = index.page(filter, limit);
      CHECK(page.bindings.size() <= limit);
      REQUIRE_FALSE(page.bindings.empty());
      for (const Pair& pair : pairs(page)) seen.push_back(pair);
      more = page.more;
      CHECK(more == (seen.size() < all.size()));
    }
    CHECK(seen == all);
  }
}

TEST_CASE("topic index: a page can be of one queue, or of those whose names begin alike") {
  Queues queues;
  TopicIndex index;
  const std::vector<Pair> all = {{"jobs", "a"}, {"jobs", "b"}, {"jobs2", "a"}, {"mail", "a"}};
  for (const auto& [queue, pattern] : all) index.add(queues[queue], pattern);
  CHECK(pairs(index.page({.queue = "jobs"}, 10)) == std::vector<Pair>{all[0], all[1]});
  CHECK(pairs(index.page({.queue = "job"}, 10)).empty());
  CHECK(pairs(index.page({.queue_prefix = "jobs"}, 10)) == std::vector<Pair>{all[0], all[1], all[2]});
  CHECK(pairs(index.page({.queue_prefix = "ma"}, 10)) == std::vector<Pair>{all[3]});
  CHECK(pairs(index.page({.queue_prefix = "x"}, 10)).empty());
  CHECK(pairs(index.page({.queue = "jobs", .queue_prefix = "m"}, 10)).empty());
  CHECK(pairs(index.page({.queue = "mail", .queue_prefix = "m", .after_queue = "jobs", .after_pattern = "a"}, 10)) ==
        std::vector<Pair>{all[3]});
  CHECK(pairs(index.page({.queue_prefix = "jobs", .after_queue = "jobs", .after_pattern = "a"}, 10)) ==
        std::vector<Pair>{all[1], all[2]});
  CHECK(pairs(index.page({.queue_prefix = "jobs", .after_queue = "jobs", .after_pattern = "gone"}, 10)) ==
        std::vector<Pair>{all[2]});
  const BindingPage page = index.page({.queue_prefix = "jobs"}, 3);
  CHECK_FALSE(page.more);  // mail is another matter
}

// A thousand matches are far below the limit if one takes what it should, and do not end in the age of the universe if
// its work doubles with each word; so the limit can be generous.
void check_quick(TopicIndex& index, const std::string& topic, const Names& wanted) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1'000; ++i) CHECK(matched(index, topic) == wanted);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
}

TEST_CASE("C09 topic index: 39 wildcards against 39 words, and 128 against 128, take no time") {
  Queues queues;
  TopicIndex index;
  for (const std::size_t words : {39u, 128u}) {
    index.add(queues["all"], repeated("*", words));
    index.add(queues["rest"], repeated("*", words - 1) + ".#");
    index.add(queues["not"], repeated("*", words - 1) + ".x");
  }
  // Each beginning of stars and words in turn, so that every level has nodes of both kinds.
  std::string turn = "w";
  for (int i = 1; i < 39; ++i) turn += i % 2 == 0 ? ".w" : ".*";
  index.add(queues["turn"], turn);
  check_quick(index, repeated("w", 39), {"all", "rest", "turn"});
  check_quick(index, repeated("w", 40), {"rest"});
  check_quick(index, repeated("w", 128), {"all", "rest"});
  check_quick(index, repeated("w", 38), {"rest"});
}

TEST_CASE("topic index: all 1,024 mixtures of ten words and stars match at once, and cost as much as they are") {
  Queues queues;
  TopicIndex index;
  Names names;
  for (unsigned mixture = 0; mixture < 1'024; ++mixture) {
    Names words;
    for (unsigned bit = 0; bit < 10; ++bit) words.emplace_back((mixture >> bit & 1) != 0 ? "*" : "w");
    index.add(queues["q" + std::to_string(10'000 + mixture)], joined(words));
    names.push_back("q" + std::to_string(10'000 + mixture));
  }
  CHECK(matched(index, repeated("w", 10)) == names);
  CHECK(matched(index, repeated("w", 9) + ".v").size() == 512);
  CHECK(matched(index, repeated("v", 10)) == Names{names.back()});
  CHECK(index.trie().node_count() == 2 * 1'024 - 1);
}

}  // namespace
}  // namespace sluice::engine
