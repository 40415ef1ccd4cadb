#include "broker.h"

#include <spdlog/sinks/null_sink.h>

#include "durability/restorer.h"

namespace sluice::sim {

BrokerUnderTest::BrokerUnderTest(World& world, Network& network, Oracle& oracle, const Settings& settings)
    : world_(world),
      network_(network),
      oracle_(oracle),
      settings_(settings),
      clock_(world),
      logger_(log::Level::error, log::Format::json, std::make_shared<spdlog::sinks::null_sink_mt>(), [] { return 0; }),
      disk_(settings.seed),
      speed_{settings.write_us, settings.sync_us, 0} {}

BrokerUnderTest::~BrokerUnderTest() = default;

bool BrokerUnderTest::start() {
  if (!settings_.journal) {
    journal_ = std::make_unique<journal::MemoryJournal>();
    server_ = std::make_unique<server::Server>(settings_.server, clock_, network_, *journal_, logger_);
  } else if (!recover()) {
    return false;
  }
  oracle_.started(*journal_);
  network_.broker_started();
  return true;
}

bool BrokerUnderTest::recover() {
  durability::Restorer restorer(settings_.server.memory_bytes);
  auto opened = journal::FileJournal::open(
      disk_, settings_.disk, settings_.seed,
      [&](const journal::ScannedBatch& batch) { return restorer.apply(batch.body, batch.base, batch.first); });
  if (!opened) {
    if (failure_expected_ && opened.error().kind == journal::OpenErrorKind::io) return false;
    world_.fail("S17", "the journal is refused after a crash: " + opened.error().text);
  }
  const journal::Opening found = (*opened)->opening();
  world_.tell("opened: epoch " + std::to_string(found.epoch) + ", last sequence " + std::to_string(raw(found.last)) +
              ", segments " + std::to_string(found.segments) +
              (found.cut ? ", cut " + std::to_string(found.cut->bytes) + " bytes" : ""));
  world_.trace.mix(raw(found.last));
  if (found.cut) world_.hit(Mark::torn_tail_cut);
  if (closed_clean_ && found.cut) world_.fail("S23", "the journal of a drained broker has a torn tail");
  closed_clean_ = false;
  file_ = opened->get();
  journal_ = *std::move(opened);
  workers_ = std::make_unique<DiskWorkers>(world_, network_, *file_, speed_);
  file_->set_workers(workers_.get());
  server_ = std::make_unique<server::Server>(settings_.server, clock_, network_, *journal_, logger_);
  const auto restored = server_->recover(restorer);
  if (!restored) world_.fail("S17", "what was read contradicts itself: " + restored.error());
  workers_->writer_has_work();
  if (found.epoch > 1) world_.hit(Mark::recovered);
  if (restored->messages != 0) world_.hit(Mark::recovered_with_messages);
  if (restored->returned != 0) world_.hit(Mark::lease_returned_by_restart, restored->returned);
  return true;
}

server::Server::Next BrokerUnderTest::turn() {
  oracle_.turn_begins();
  world_.trace.mix(disk_.changes());
  note_segments();
  return server_->turn();
}

void BrokerUnderTest::note_segments() {
  const std::uint64_t bytes = journal_->bytes();
  if (bytes > journal_bytes_ && journal_bytes_ != 0) world_.hit(Mark::segment_begun);
  if (bytes < journal_bytes_) world_.hit(Mark::segment_removed);
  journal_bytes_ = bytes;
}

void BrokerUnderTest::die(Death death) {
  server_.reset();
  workers_.reset();
  file_ = nullptr;
  journal_.reset();
  if (death == Death::power_cut) {
    disk_.crash();
  } else {
    disk_.unlock();
  }
  disk_.heal();
  disk_.stop_after(~std::uint64_t{0} >> 1);
  failure_expected_ = false;
  journal_bytes_ = 0;
  speed_.slow_until_us = 0;
  oracle_.died();
}

void BrokerUnderTest::close() {
  if (file_ == nullptr) return;
  file_->close();
  if (const auto failure = file_->failure()) world_.fail("S23", "closing after a drain failed: " + *failure);
  closed_clean_ = true;
  world_.hit(Mark::stopped_clean);
}

}  // namespace sluice::sim
