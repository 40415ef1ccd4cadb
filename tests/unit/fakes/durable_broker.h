#pragma once
// tests/unit/fakes/durable_broker.h: the real loop over a fake network and clock, with a journal on a disk in memory that the test
// lets work, stand still, or crash.

#include <spdlog/sinks/null_sink.h>

#include <memory>
#include <string>

#include "fake_router.h"
#include "journal/file_journal.h"
#include "server/server.h"
#include "sim_disk.h"

namespace sluice::server {

class DurableBroker {
 public:
  explicit DurableBroker(const ServerOptions& options = {}, std::uint64_t segment_bytes = 64 * 1024)
      : options_(options),
        logger_(log::Level::error, log::Format::json, std::make_shared<spdlog::sinks::null_sink_mt>(),
                [] { return 0; }) {
    if (options_.memory_bytes == 0) options_.memory_bytes = 1ULL << 40;
    journal_options_.segment_bytes = segment_bytes;
    start();
  }

  // Reads the disk and serves. Throws std::runtime_error.
  void start() {
    router = io::FakeRouter();
    durability::Restorer restorer(options_.memory_bytes);
    auto opened = journal::FileJournal::open(disk, journal_options_, 1, [&](const journal::ScannedBatch& batch) {
      return restorer.apply(batch.body, batch.base, batch.first);
    });
    if (!opened) throw std::runtime_error(opened.error().text);
    journal_ = *std::move(opened);
    server = std::make_unique<Server>(options_, clock, router, *journal_, logger_);
    const auto restored = server->recover(restorer);
    if (!restored) throw std::runtime_error(restored.error());
    recovered = *restored;
    settle();
  }
  // The machine loses its power.
  void crash() {
    server.reset();
    journal_.reset();
    disk.crash();
  }
  void restart_after_crash() {
    crash();
    start();
  }
  // The process ends in order.
  void stop() {
    server->stop();
    for (int i = 0; i < 100 && !stopped; ++i) turn();
    if (!stopped) throw std::runtime_error("the broker does not stop");
    server.reset();
    journal_->close();
    journal_.reset();
    stopped = false;
  }

  void turn() {
    const Server::Next next = server->turn();
    stopped = stopped || next == Server::Next::stop;
    failed = failed || next == Server::Next::failed;
    if (disk_works) work();
  }
  // What the threads of the journal would do.
  void work() {
    while (journal_->writer().step(clock.time.steady_ms)) {
    }
    while (journal_->reader().step()) {
    }
  }
  // Turns until everything has come to rest.
  void settle() {
    for (int i = 0; i < 12 && !failed; ++i) turn();
  }
  void pass(std::uint64_t ms) {
    clock.pass(ms);
    settle();
  }

  wire::Welcome hello(const std::string& route, const wire::Hello& hello = {}) {
    router.put(route, hello);
    settle();
    return router.take_one<wire::Welcome>(route);
  }
  wire::Reply request(const std::string& route, std::string verb, wire::Map arguments = {}) {
    wire::Request asked;
    asked.request = ++request_;
    asked.verb = std::move(verb);
    asked.arguments = std::move(arguments);
    router.put(route, asked);
    settle();
    return router.take_one<wire::Reply>(route);
  }
  std::uint64_t number(const std::string& route, const std::string& queue, std::string_view what) {
    const wire::Reply reply = request(route, "queue.info", wire::Map().set("name", queue));
    const wire::Map& result = reply.result.value();
    const wire::Value* const found = result.find(what);
    if (found != nullptr) return *found->get_if<std::uint64_t>();
    return *result.find("counters")->get_if<wire::Map>()->find(what)->get_if<std::uint64_t>();
  }

  test::SimDisk disk;
  io::FakeClock clock;
  io::FakeRouter router;
  std::unique_ptr<Server> server;
  durability::Restored recovered;
  bool disk_works = true;
  bool stopped = false;
  bool failed = false;

 private:
  ServerOptions options_;
  journal::FileJournalOptions journal_options_;
  log::Logger logger_;
  std::unique_ptr<journal::FileJournal> journal_;
  std::uint64_t request_ = 0;
};

}  // namespace sluice::server
