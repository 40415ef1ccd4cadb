#include "network.h"

#include <algorithm>
#include <utility>

namespace sluice::sim {
namespace {

constexpr std::uint64_t kIdleTurnsMax = 20'000;

}  // namespace

io::Ready Network::wait(std::int64_t timeout_ms) {
  // A turn without anything to do is one too many; so many are a loop that spins.
  if (++idle_turns_ > kIdleTurnsMax)
    world_.fail("L1", "the broker's loop spins: " + std::to_string(idle_turns_) +
                          " turns without a frame, an event or a pause");
  const std::uint64_t until_us =
      timeout_ms < 0 ? kNever : world_.now_us() + static_cast<std::uint64_t>(timeout_ms) * kMs;
  while (!interrupted_) {
    const bool stalled = world_.now_us() < stalled_until_us_;
    const bool due = world_.next_us() <= world_.now_us();
    if (!due && !stalled && (has_something() || world_.now_us() >= until_us)) break;
    const std::uint64_t sleeps_until_us = std::max(until_us, stalled_until_us_);
    if (due || world_.next_us() <= sleeps_until_us) {
      if (world_.next_us() == kNever) world_.fail("L3", "the broker sleeps for ever and nothing will wake it");
      world_.run_next();
    } else {
      idle_turns_ = 0;
      world_.skip_to(sleeps_until_us);
    }
  }
  if (interrupted_) {
    interrupted_ = false;
    throw Interrupt{};
  }
  return {!closed_.empty() || accepted_ != 0, std::exchange(wake_, false)};
}

bool Network::receive(io::Received& received) {
  if (incoming_.empty()) return false;
  idle_turns_ = 0;
  current_ = std::move(incoming_.front());
  incoming_.pop_front();
  received = {current_.link->route, current_.link->number, current_.bytes, current_.parts};
  observer_->received(*current_.link, current_.bytes, current_.parts);
  return true;
}

io::RouterEvents Network::events() {
  io::RouterEvents events;
  events.accepted = std::exchange(accepted_, 0);
  for (Link* link : std::exchange(closed_, {})) {
    events.closed.push_back(link->number);
    observer_->told_closed(*link);
  }
  return events;
}

io::SendResult Network::send(const io::Route& route, wire::Buffer& frame) {
  const auto found = std::lower_bound(routes_.begin(), routes_.end(), route,
                                      [](const auto& entry, const io::Route& key) { return entry.first < key; });
  if (found == routes_.end() || found->first != route) {
    for (const auto& link : links_)
      if (link->route == route) observer_->found_gone(*link);
    return io::SendResult::gone;
  }
  Link& link = *found->second;
  if (!link.reads) {
    link.blocked_once = true;
    observer_->held_up(link);
    return io::SendResult::full;
  }
  if (sends_left_ != 0 && --sends_left_ == 0) throw Interrupt{};
  observer_->sent(link, frame.view());
  if (link.client != nullptr && !link.half_open) {
    link.to_client_us = std::max(link.to_client_us, world_.now_us() + delay_us());
    world_.at(link.to_client_us, [&link, bytes = std::string(frame.view())] {
      if (link.client != nullptr && !link.half_open) link.client->received(bytes);
    });
  }
  frame.clear();
  return io::SendResult::sent;
}

Link* Network::connect(Endpoint& client) {
  if (!listening_) return nullptr;
  auto link = std::make_unique<Link>();
  link->id = next_link_++;
  // As the transport makes them: five bytes, of which the first is zero.
  link->route = std::string(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    link->route += static_cast<char>((link->id * 2'654'435'761U) >> shift & 0xff);
  if (free_numbers_.empty()) free_numbers_.insert(next_number_++);
  link->number = *free_numbers_.begin();
  free_numbers_.erase(free_numbers_.begin());
  link->client = &client;
  const auto entry = std::pair(link->route, link.get());
  routes_.insert(std::lower_bound(routes_.begin(), routes_.end(), entry), entry);
  links_.push_back(std::move(link));
  ++accepted_;
  return links_.back().get();
}

void Network::send(Link& link, std::string bytes, std::size_t parts) {
  if (link.half_open || !link.broker_has) return;
  link.to_broker_us = std::max(link.to_broker_us, world_.now_us() + delay_us());
  world_.at(link.to_broker_us,
            [this, &link, parts, bytes = std::move(bytes)]() mutable { arrive(link, std::move(bytes), parts); });
}

void Network::arrive(Link& link, std::string bytes, std::size_t parts) {
  if (link.half_open || !link.broker_has) return;
  incoming_.push_back({&link, std::move(bytes), parts});
}

void Network::broker_loses(Link& link) {
  if (!link.broker_has) return;
  link.broker_has = false;
  const auto entry = std::pair(link.route, &link);
  routes_.erase(std::lower_bound(routes_.begin(), routes_.end(), entry));
  free_numbers_.insert(link.number);
  closed_.push_back(&link);
}

void Network::close(Link& link) {
  link.client = nullptr;
  if (link.half_open || !link.broker_has) return;
  link.to_broker_us = std::max(link.to_broker_us, world_.now_us() + delay_us());
  if (!options_.notice_first) return world_.at(link.to_broker_us, [this, &link] { broker_loses(link); });
  // The event first; what was sent last is handed over a moment later.
  world_.at(link.to_broker_us, [this, &link] {
    std::deque<Incoming> late;
    for (Incoming& each : incoming_)
      if (each.link == &link) late.push_back(std::move(each));
    std::erase_if(incoming_, [&](const Incoming& each) { return each.link == &link; });
    broker_loses(link);
    world_.after(random_.below(kMs), [this, late = std::move(late)]() mutable {
      for (Incoming& each : late) incoming_.push_back(std::move(each));
    });
  });
}

void Network::vanish(Link& link) {
  link.half_open = true;
  link.client = nullptr;
}

void Network::cut(Link& link) {
  Endpoint* const client = std::exchange(link.client, nullptr);
  link.half_open = true;  // what is under way is lost
  broker_loses(link);
  if (client != nullptr) client->disconnected();
}

void Network::broker_died(bool told) {
  listening_ = false;
  interrupted_ = false;
  sends_left_ = 0;
  stalled_until_us_ = 0;
  incoming_.clear();
  closed_.clear();
  accepted_ = 0;
  wake_ = false;
  routes_.clear();
  free_numbers_.clear();
  next_number_ = 10;
  for (const auto& link : links_) {
    if (!link->broker_has) continue;
    link->broker_has = false;
    link->half_open = true;
    if (told && link->client != nullptr) std::exchange(link->client, nullptr)->disconnected();
  }
}

std::vector<Link*> Network::links() {
  std::vector<Link*> found;
  for (const auto& link : links_)
    if (link->broker_has && link->client != nullptr) found.push_back(link.get());
  return found;
}

}  // namespace sluice::sim
