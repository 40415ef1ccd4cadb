#include "inspector.h"

#include <utility>

namespace sluice::sim {
namespace {

constexpr std::uint64_t kProbeEveryUs = 300 * kMs;
// What a turn of the loop and its share of others' work may take.
constexpr std::uint64_t kProbeMarginUs = 100 * kMs;
constexpr std::uint64_t kCredit = 50;
constexpr std::uint64_t kCreditBytes = 20'000;  // a frame of it from each queue fits the smallest line

std::uint64_t number_in(const wire::Map& map, std::string_view key) { return *map.find(key)->get_if<std::uint64_t>(); }

}  // namespace

Inspector::Inspector(Stage& stage, std::string name, std::uint64_t salt) : Client(stage, std::move(name), salt) {
  world_.after(kProbeEveryUs, [this] { probe(); });
}

void Inspector::on_open(const wire::Welcome&) {}

void Inspector::on_closed() {
  probe_ = 0;
  consumed_.clear();
}

// S22: whatever the others do, an answer comes at once.
void Inspector::probe() {
  world_.after(kProbeEveryUs, [this] { probe(); });
  const std::uint64_t allowed_us = 2 * stage_.network.delay_us_max() + 3 * stage_.settings.sync_us + kProbeMarginUs;
  // Where the disk takes long for each of many batches, or for each of many segments, all wait for their turn.
  const Settings& settings = stage_.settings;
  const bool small = settings.sync_us < kMs || settings.payload_max * 20 < settings.disk.segment_bytes;
  const bool quick = !settings.journal || (settings.sync_us < 10 * kMs && small);
  if (quick && probe_ != 0 && world_.now_us() > probe_since_us_ + allowed_us && stage_.excused_us < probe_since_us_ &&
      stage_.slow_until_us < probe_since_us_)
    world_.fail("S22", "a request of a peer that does nothing wrong waits for " +
                           std::to_string((world_.now_us() - probe_since_us_) / kMs) + " ms");
  if (draining_) return list();
  if (!open() || probe_ != 0) return;
  probe_ = next_request();
  probe_since_us_ = world_.now_us();
  send(wire::Request{probe_, "queue.info", wire::Map().set("name", stage_.settings.queues[0].name)});
}

void Inspector::begin_draining() { draining_ = true; }

void Inspector::look_again() {
  empty_lists_ = 0;
  done_ = false;
  compare_ = 0;
}

void Inspector::list() {
  if (!open()) return;
  list_ = next_request();
  send(wire::Request{list_, "queue.list", wire::Map().set("limit", 10'000)});
}

void Inspector::on_frame(const wire::BrokerFrame& frame) {
  if (const auto* deliver = std::get_if<wire::Deliver>(&frame)) return ack(*deliver);
  const auto* reply = std::get_if<wire::Reply>(&frame);
  if (reply == nullptr) return;
  if (reply->request == probe_) probe_ = 0;
  if (reply->request == list_ && reply->result) take_list(*reply->result);
  if (reply->request == compare_ && reply->result) {
    stage_.oracle.compare_credits(*reply->result->find("consumers")->get_if<wire::Array>());
    done_ = stage_.oracle.unanswered().empty();
  }
}

void Inspector::take_list(const wire::Map& result) {
  left_.clear();
  for (const wire::Value& value : *result.find("queues")->get_if<wire::Array>()) {
    const wire::Map& queue = *value.get_if<wire::Map>();
    const std::string& name = *queue.find("name")->get_if<std::string>();
    const std::uint64_t there = number_in(queue, "ready") + number_in(queue, "delayed") + number_in(queue, "leased");
    if (there != 0)
      left_ += " " + name + ": " + std::to_string(number_in(queue, "ready")) + " ready, " +
               std::to_string(number_in(queue, "delayed")) + " delayed, " + std::to_string(number_in(queue, "leased")) +
               " leased;";
    if (name.starts_with("_sub-") && !name.ends_with(".dlq")) continue;
    if (!consumed_.insert(name).second) continue;
    wire::Consume frame;
    frame.request = next_request();
    frame.consumer = next_consumer_++;
    frame.queue = name;
    frame.credit_messages = kCredit;
    frame.credit_bytes = kCreditBytes;
    send(frame);
  }
  // Twice in a row: what was on its way when it was listed first is there by then.
  if (!left_.empty()) return look_again();
  ++empty_lists_;
  if (empty_lists_ < 2) return;
  compare_ = next_request();
  send(wire::Request{compare_, "consumer.list", wire::Map().set("limit", 10'000)});
}

void Inspector::ack(const wire::Deliver& deliver) {
  std::uint64_t bytes = 0;
  for (const wire::Delivery& delivery : deliver.deliveries) bytes += delivery.payload.size() + delivery.headers.size();
  wire::Settle frame;
  frame.request = next_request();
  frame.settlements.push_back(
      {wire::Verb::ack, deliver.first_lease, deliver.first_lease + deliver.deliveries.size() - 1, {}, {}, {}});
  frame.grants.push_back({deliver.consumer, deliver.deliveries.size(), bytes});
  send(frame);
}

}  // namespace sluice::sim
