// Fuzzes the reader of the journal's records: no crash, a reason for each refusal, and what it read before that is written again as
// the same bytes, because there is one way to write each meaning.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "record/decode.h"
#include "record/encode.h"

using namespace sluice::record;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of its own size: the sanitizer sees a read behind its end.
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(first, first + size);
  RecordReader reader(bytes);
  RecordWriter writer;
  while (const auto record = reader.next()) writer.write(*record);
  const std::size_t good = reader.error() ? reader.error()->offset : size;
  SLUICE_CHECK(!reader.error() || !reader.error()->text.empty());
  SLUICE_CHECK(writer.size() == good);
  SLUICE_CHECK(good == 0 || std::memcmp(writer.bytes().data(), bytes.data(), good) == 0);
  return 0;
}
