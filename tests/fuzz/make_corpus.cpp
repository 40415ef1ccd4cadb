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

// A step of session_fuzz.cpp.
std::string step(unsigned peer, unsigned what, std::size_t number, std::string_view bytes = {}) {
  std::string out;
  out += static_cast<char>(peer | what << 2U);
  out += static_cast<char>(number & 0xffU);
  out += static_cast<char>(number >> 8U & 0xffU);
  return out.append(bytes);
}

std::string frame(unsigned peer, const ClientFrame& content) {
  Buffer bytes;
  encode(content, bytes);
  return step(peer, 0, bytes.size(), bytes.view());
}

// Scripts in which something happens: a message goes through, fails, dies, is replayed; and each vector in a running session.
void add_sessions(Corpus& corpus, const std::vector<Vector>& vectors) {
  constexpr unsigned kPass = 3;
  constexpr unsigned kClose = 4;
  constexpr unsigned kFull = 5;
  Publish publish;
  publish.queue = "jobs";
  publish.first_sequence = 1;
  publish.messages = {{"a", {}, 0, 4}, {"b", {}, 50, 9}, {"c", {}, 0, 0}};
  Map policy;
  policy.set("max_attempts", 2).set("lease_ms", 100).set("dead_letter_max", 2).set("backoff_initial_ms", 10);
  const std::string begin = frame(0, Hello()) + frame(1, Hello()) +
                            frame(0, Request{1, "queue.declare", Map().set("name", "jobs").set("policy", policy)}) +
                            frame(0, publish) + frame(1, Consume{2, 1, "jobs", 10, 1'000});
  const auto settle = [](Verb verb, std::uint64_t first, std::uint64_t last) {
    return Settle{std::nullopt, {{verb, first, last, {}, {}, {}}}, {{1, 2, 10}}};
  };
  corpus.add("sessions", begin + frame(1, settle(Verb::ack, 1, 3)));
  corpus.add("sessions", begin + frame(1, settle(Verb::reject, 1, 2)) +
                             frame(0, Request{3, "dlq.replay", Map().set("name", "jobs.dlq")}) +
                             frame(1, settle(Verb::nack, 3, 9)));
  corpus.add("sessions", begin + step(0, kPass, 400) + step(0, kPass, 400) + frame(1, settle(Verb::release, 3, 5)));
  corpus.add("sessions", begin + step(1, kClose, 0) + frame(2, Hello()) + frame(2, Consume{1, 1, "jobs", 1, 1}));
  corpus.add("sessions", begin + step(1, kFull, 0) + frame(1, settle(Verb::extend, 1, 2)) +
                             frame(0, Request{3, "queue.delete", Map().set("name", "jobs")}));
  for (const Vector& vector : vectors) {
    if (vector.to_broker && vector.bytes.size() < 2'000)
      corpus.add("sessions", begin + step(1, 0, vector.bytes.size(), vector.bytes) + step(0, kPass, 200));
  }
}

// Each record, and those of a file as one turn.
void add_records(Corpus& corpus) {
  for (const auto& item : fs::directory_iterator(SLUICE_RECORD_VECTORS_DIR)) {
    if (item.path().extension() != ".json") continue;
    std::ifstream in(item.path());
    std::string turn;
    for (const auto& vector : nlohmann::json::parse(in)) {
      const std::string record = from_hex(vector.at("hex"));
      corpus.add("records", record);
      turn += record;
    }
    corpus.add("records", turn);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus <folder>\n");
    return 2;
  }
  try {
    for (const char* kind : {"to_broker", "to_client", "maps", "sessions", "records"})
      fs::remove_all(fs::path(argv[1]) / kind);
    Corpus corpus(argv[1]);
    const std::vector<Vector> vectors = read_vectors();
    add_sessions(corpus, vectors);
    add_records(corpus);
    for (const Vector& vector : vectors) {
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
