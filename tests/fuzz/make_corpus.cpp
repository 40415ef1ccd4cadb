// make_corpus <folder>: writes the frames of spec/vectors, and the maps inside them, as files for the fuzzers.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "vector_file.h"
#include "wire/codec.h"

namespace {

namespace fs = std::filesystem;
using namespace sluice::wire;

class Corpus {
 public:
  explicit Corpus(fs::path folder) : folder_(std::move(folder)) {}

  void add(const std::string& kind, std::string_view bytes) {
    const fs::path folder = folder_ / kind;
    fs::create_directories(folder);
    const fs::path path = folder / std::to_string(count_++);
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
  }
  std::size_t count() const { return count_; }

 private:
  fs::path folder_;
  std::size_t count_ = 0;
};

void add_maps(Corpus& corpus, const Vector& vector) {
  const auto decoded = decode_client_frame(vector.bytes);
  if (!decoded) return;
  if (const auto* const publish = std::get_if<Publish>(&*decoded)) {
    for (const PublishMessage& message : publish->messages) {
      if (!message.headers.empty()) corpus.add("maps", message.headers);
    }
  } else if (const auto* const request = std::get_if<Request>(&*decoded)) {
    Buffer bytes;
    encode(request->arguments, bytes);
    corpus.add("maps", bytes.view());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus <folder>\n");
    return 2;
  }
  try {
    for (const char* kind : {"to_broker", "to_client", "maps"}) fs::remove_all(fs::path(argv[1]) / kind);
    Corpus corpus(argv[1]);
    for (const Vector& vector : read_vectors()) {
      corpus.add(vector.to_broker ? "to_broker" : "to_client", vector.bytes);
      if (vector.to_broker) add_maps(corpus, vector);
    }
    std::printf("%zu files\n", corpus.count());
    return corpus.count() > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_corpus: %s\n", error.what());
    return 1;
  }
}
