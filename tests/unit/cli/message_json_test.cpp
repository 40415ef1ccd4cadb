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
  const Json json = json_of(queue);
  for (const char* const key :
       {"name", "ready", "delayed", "leased", "dead", "consumers", "oldest_age_ms", "policy", "counters"})
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
