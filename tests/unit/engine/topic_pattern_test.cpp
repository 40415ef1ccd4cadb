#include "engine/topic_pattern.h"

#include <doctest/doctest.h>

#include <fstream>

#include <nlohmann/json.hpp>

namespace sluice::engine {
namespace {

std::string repeated(const std::string& word, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += (i > 0 ? "." : "") + word;
  return out;
}

void check_refused(const std::optional<std::string>& error, const std::string& text) {
  REQUIRE(error.has_value());
  CHECK_MESSAGE(error->find(text) != std::string::npos, *error);
}

TEST_CASE("C09 topic pattern: agrees with the table of the specification") {
  std::ifstream in(SLUICE_SOURCE_DIR "/spec/vectors/topics/matching.json");
  const auto table = nlohmann::json::parse(in);
  std::size_t matched = 0;
  std::size_t refused = 0;
  for (const auto& row : table) {
    CAPTURE(row.dump());
    const std::string pattern = row.value("pattern", "");
    const std::string topic = row.value("topic", "");
    if (row.contains("matches")) {
      CHECK_FALSE(pattern_error(pattern).has_value());
      CHECK_FALSE(topic_error(topic).has_value());
      CHECK(matches(pattern, topic) == row.at("matches").get<bool>());
      ++matched;
    } else if (row.contains("topic")) {
      check_refused(topic_error(topic), row.at("text"));
      CHECK_FALSE(matches("#", topic));
      CHECK(row.at("error") == "bad_topic");
      ++refused;
    } else {
      check_refused(pattern_error(pattern), row.at("text"));
      CHECK_FALSE(matches(pattern, "a"));
      CHECK(row.at("error") == "bad_topic");
      ++refused;
    }
  }
  CHECK(matched >= 50);
  CHECK(refused >= 50);
}

TEST_CASE("topic pattern: the error names the rule and the place") {
  CHECK(*topic_error("") == "a topic has 1 to 255 bytes, this one is empty");
  CHECK(*pattern_error("") == "a pattern has 1 to 255 bytes, this one is empty");
  CHECK(*topic_error("a..b") == "a topic has no empty words, this one has one at byte 2");
  CHECK(*topic_error("a/b") == "a topic has letters, digits and . _ : @ - only, this one has '/' at byte 1");
  CHECK(*topic_error("t.*") == "a topic has no wildcards, they are for patterns; this one has '*' at byte 2");
  CHECK(*pattern_error("a*") ==
        "in a pattern a wildcard is a whole word, this one has '*' beside other text at byte 1");
  CHECK(*pattern_error("#.a") == "in a pattern # is the last word, this one goes on after the one at byte 0");
  CHECK(*pattern_error("a\xff") ==
        "a pattern has letters, digits, . _ : @ - and the wildcards * and # only, this one has 0xff at byte 1");
}

TEST_CASE("topic pattern: of all bytes the same ones are allowed in a word of a topic and of a pattern") {
  std::string allowed;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string word = {'a', static_cast<char>(byte), 'b'};
    CHECK(topic_error(word).has_value() == pattern_error(word).has_value());
    if (!topic_error(word)) allowed += static_cast<char>(byte);
  }
  CHECK(allowed == "-.0123456789:@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");
}

TEST_CASE("topic pattern: 255 bytes are the limit, and a long one is not read to its end") {
  CHECK_FALSE(topic_error(std::string(255, 'x')).has_value());
  CHECK_FALSE(pattern_error(repeated("*", 128)).has_value());
  CHECK(*topic_error(std::string(256, 'x')) == "a topic has at most 255 bytes, this one has 256");
  CHECK(*pattern_error(std::string(1'000'000, '.')) == "a pattern has at most 255 bytes, this one has 1000000");
}

TEST_CASE("topic pattern: words are split at every dot") {
  std::vector<std::string_view> words = {"left", "over"};
  split_words("a.bc.d", words);
  CHECK(words == std::vector<std::string_view>{"a", "bc", "d"});
  split_words("a", words);
  CHECK(words == std::vector<std::string_view>{"a"});
  split_words(".a..", words);
  CHECK(words == std::vector<std::string_view>{"", "a", "", ""});
}

}  // namespace
}  // namespace sluice::engine
