#include "cli/message_json.h"

#include <doctest/doctest.h>

using namespace sluice;
using namespace sluice::cli;

TEST_CASE("message json: text is text, other bytes are base64") {
  MessageInfo message;
  message.payload = "gr\xC3\xBC\xC3\x9F";
  CHECK(json_of(message)["payload"] == "gr\xC3\xBC\xC3\x9F");
  CHECK_FALSE(json_of(message).contains("payload_base64"));
  message.payload = std::string("\xFF\x00", 2);
  CHECK(json_of(message)["payload_base64"] == "/wA=");
  CHECK_FALSE(json_of(message).contains("payload"));
}

TEST_CASE("message json: headers keep their types") {
  Headers headers;
  headers["flag"] = true;
  headers["count"] = std::uint64_t{18446744073709551615u};
  headers["below"] = std::int64_t{-3};
  headers["share"] = 0.5;
  headers["name"] = std::string("x");
  headers["odd"] = std::string("\xFF");
  headers["bytes"] = std::vector<std::byte>{std::byte{1}, std::byte{2}};
  const Json json = json_of(headers);
  CHECK(json["flag"] == true);
  CHECK(json["count"] == 18446744073709551615u);
  CHECK(json["below"] == -3);
  CHECK(json["share"] == 0.5);
  CHECK(json["name"] == "x");
  CHECK(json["odd"]["base64"] == "/w==");
  CHECK(json["bytes"]["base64"] == "AQI=");
}

TEST_CASE("message json: a queue has what the contract names") {
  QueueInfo queue;
  queue.name = "jobs";
  queue.policy.lease_ms = 30'000;
  queue.policy.backoff.jitter = 0.2;
  queue.policy.durable = false;
  const Json json = json_of(queue);
  for (const char* const key :
       {"name", "ready", "delayed", "leased", "dead", "consumers", "oldest_age_ms", "paused", "policy", "counters"})
    CHECK_MESSAGE(json.contains(key), key);
  CHECK(json["policy"]["lease_ms"] == 30'000);
  CHECK(json["policy"]["backoff_jitter"] == 0.2);
  CHECK(json["policy"]["durable"] == false);
}

TEST_CASE("message json: a dead letter says why") {
  MessageInfo message;
  message.dead = DeadLetter{"jobs", "rejected", "no good", 5, 6, {{"nacks", 1}}};
  const Json dead = json_of(message)["dead"];
  CHECK(dead["origin"] == "jobs");
  CHECK(dead["reason"] == "rejected");
  CHECK(dead["error"] == "no good");
  CHECK(dead["dead_at_ms"] == 6);
  CHECK(dead["counters"]["nacks"] == 1);
}

TEST_CASE("message json: a message has its place, and its end if it has one") {
  MessageInfo message;
  message.position = 7;
  CHECK(json_of(message)["position"] == 7);
  CHECK_FALSE(json_of(message).contains("expires_ms"));
  message.expires_ms = 9;
  CHECK(json_of(message)["expires_ms"] == 9);
}

TEST_CASE("message json: an unnamed subscription is known by its pattern") {
  CHECK(json_of(Delivery{}, {"jobs", false})["queue"] == "jobs");
  const Json unnamed = json_of(Delivery{}, {"orders.#", true});
  CHECK(unnamed["pattern"] == "orders.#");
  CHECK_FALSE(unnamed.contains("queue"));
}

TEST_CASE("message json: bindings, consumers and sessions have the keys of the protocol") {
  CHECK(json_line(json_of(Binding{"q", "a.#"})) == R"({"queue":"q","pattern":"a.#"})");
  CHECK(json_line(json_of(ConsumerInfo{"q", 1, 2, 3, 4, 5})) ==
        R"({"queue":"q","session":1,"consumer":2,"held":3,"credit_messages":4,"credit_bytes":5})");
  CHECK(json_line(json_of(SessionInfo{1, "c", "a", 2, 3, 4, 5})) ==
        R"({"session":1,"client":"c","agent":"a","consumers":2,"connected_ms":3,"idle_ms":4,"outbox_bytes":5})");
}
