#include "client.h"

#include <algorithm>
#include <utility>

namespace sluice::sim {

Client::Client(Stage& stage, std::string name, std::uint64_t salt)
    : stage_(stage), world_(stage.world), random_(stage.world.stream(salt)), name_(std::move(name)) {}

void Client::start() { connect(); }

wire::Hello Client::hello() {
  wire::Hello hello;
  hello.client = name_;
  hello.heartbeat_ms = stage_.settings.heartbeat_ms;
  return hello;
}

void Client::connect() {
  if (link_ != nullptr) return;
  link_ = stage_.network.connect(*this);
  if (link_ == nullptr) return connect_later();
  heard_us_ = world_.now_us();
  heartbeat_us_ = stage_.settings.heartbeat_ms * kMs;
  send(hello());
  beat(link_->id);
}

void Client::connect_later() {
  tries_ = std::min<std::uint64_t>(tries_ + 1, 6);
  world_.after(random_.between(5 * kMs, (20 * kMs) << tries_), [this] { connect(); });
}

void Client::send(const wire::ClientFrame& frame) {
  wire::Buffer buffer;
  wire::encode(frame, buffer);
  send_bytes(std::string(buffer.view()));
}

void Client::send_bytes(std::string bytes, std::size_t parts) {
  if (link_ == nullptr) return;
  said_us_ = world_.now_us();
  stage_.network.send(*link_, std::move(bytes), parts);
}

void Client::received(std::string_view frame) {
  if (world_.now_us() < frozen_until_us_) {
    unread_.emplace_back(frame);
    return;
  }
  take(frame);
}

void Client::take(std::string_view frame) {
  heard_us_ = world_.now_us();
  const auto decoded = wire::decode_broker_frame(frame);
  if (!decoded) world_.fail("frame", "a client cannot decode what it got: " + decoded.error().text);
  if (const auto* welcome = std::get_if<wire::Welcome>(&*decoded)) {
    session_ = welcome->session;
    tries_ = 0;
    return on_open(*welcome);
  }
  const bool ends = std::holds_alternative<wire::Bye>(*decoded) ||
                    (session_ == 0 && std::holds_alternative<wire::ErrorFrame>(*decoded));
  if (ends && link_ != nullptr) {
    stage_.network.close(*link_);
    return lose();
  }
  on_frame(*decoded);
}

void Client::disconnected() { lose(); }

void Client::lose() {
  link_ = nullptr;
  unread_.clear();
  frozen_until_us_ = 0;
  if (std::exchange(session_, 0) != 0) on_closed();
  connect_later();
}

void Client::leave() {
  if (link_ == nullptr) return;
  send(wire::Bye{});
  stage_.network.close(*link_);
  lose();
}

void Client::kill(bool noticed) {
  if (link_ == nullptr) return;
  if (noticed) {
    stage_.network.close(*link_);
  } else {
    stage_.network.vanish(*link_);
  }
  lose();
}

void Client::freeze(std::uint64_t us) {
  if (link_ == nullptr) return;
  frozen_until_us_ = std::max(frozen_until_us_, world_.now_us() + us);
  const std::uint64_t link = link_->id;
  world_.at(frozen_until_us_, [this, link] {
    if (link_ == nullptr || link_->id != link || world_.now_us() < frozen_until_us_) return;
    for (const std::string& frame : std::exchange(unread_, {})) {
      if (link_ == nullptr || link_->id != link) return;
      take(frame);
    }
  });
}

void Client::say_hello_again() {
  if (link_ == nullptr || std::exchange(session_, 0) == 0) return;
  on_closed();
  send(hello());
}

void Client::beat(std::uint64_t link) {
  world_.after(heartbeat_us_, [this, link] {
    if (link_ == nullptr || link_->id != link) return;
    const std::uint64_t now_us = world_.now_us();
    if (now_us < frozen_until_us_) {
      heard_us_ = frozen_until_us_;  // nobody else is to blame for that time
      return beat(link);
    }
    if (now_us > heard_us_ + 3 * heartbeat_us_ + 500 * kMs) {
      const bool excused = link_->half_open || !link_->reads || link_->blocked_once || stage_.excused_us >= heard_us_;
      if (!excused)
        world_.fail("S22", name_ + " has heard nothing for " + std::to_string((now_us - heard_us_) / kMs) + " ms");
      stage_.network.close(*link_);
      return lose();
    }
    if (session_ != 0 && now_us >= said_us_ + heartbeat_us_ / 2) send(wire::Heartbeat{});
    beat(link);
  });
}

}  // namespace sluice::sim
