// Every vector of spec/vectors/journal: its bytes are read as its meaning, and written again as its bytes.

#include "cli/record_json.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "record/decode.h"
#include "record/encode.h"

using namespace sluice;
using namespace sluice::cli;

namespace {

std::vector<std::byte> from_hex(const std::string& hex) {
  REQUIRE(hex.size() % 2 == 0);
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return out;
}

// In their order.
std::vector<Json> vectors() {
  std::set<std::filesystem::path> paths;
  for (const auto& item : std::filesystem::directory_iterator(SLUICE_SOURCE_DIR "/spec/vectors/journal")) {
    if (item.path().extension() == ".json") paths.insert(item.path());
  }
  std::vector<Json> out;
  for (const auto& path : paths) {
    std::ifstream in(path);
    for (Json& vector : Json::parse(in)) out.push_back(std::move(vector));
  }
  return out;
}

}  // namespace

TEST_CASE("record json: each vector is read as its meaning, and written again as its bytes") {
  std::set<record::Type> types;
  std::set<std::string> names;
  for (const Json& vector : vectors()) {
    CAPTURE(vector.at("name").get<std::string>());
    CHECK(names.insert(vector.at("name")).second);
    const std::vector<std::byte> bytes = from_hex(vector.at("hex"));
    record::RecordReader reader(bytes);
    const auto read = reader.next();
    REQUIRE_MESSAGE(read.has_value(), reader.error()->text);
    CHECK(reader.record_bytes() == bytes.size());
    // As text: the order of the keys counts.
    CHECK(json_line(json_of(*read)) == json_line(vector.at("record")));
    record::RecordWriter writer;
    writer.write(*read);
    CHECK(std::vector(writer.bytes().begin(), writer.bytes().end()) == bytes);
    types.insert(type_of(*read));
  }
  CHECK(types.size() == record::kTypeCount);
}

TEST_CASE("record json: headers that are no map are base64 only, and their values keep their types") {
  const auto headers_of = [](std::string_view headers) {
    record::RecordWriter writer;
    writer.begin_published(1, 1, 1, 1, 0, 0);
    writer.add_message(4, 0, 0, {}, headers, {});
    writer.end_published();
    record::RecordReader reader(writer.bytes());
    return json_of(*reader.next())["messages"][0];
  };
  CHECK_FALSE(headers_of("\xc1").contains("headers"));
  CHECK(headers_of("\xc1")["headers_base64"] == "wQ==");
  CHECK_FALSE(headers_of("").contains("headers"));
  CHECK(headers_of("\x82\xa1\x61\xc4\x01\xff\xa1\x62\x92\xc0\xff")["headers"].dump() ==
        R"({"a":{"base64":"/w=="},"b":[null,-1]})");
}
