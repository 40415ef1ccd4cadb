#pragma once
// engine/timer_wheel.h: many timers, O(1) to set and to cancel.
//
// Shapes   intrusive: a timed thing derives from TimerNode. 11 levels of 64 slots; a node sits on the level of the
//          highest 6-bit group in which its time differs from the wheel's, so a lower level is always due earlier.
// Units    ms on any rising scale.
// Threads  one.
// Owns     nothing; a node must be removed before it goes.

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "base/check.h"

namespace sluice::engine {

struct TimerNode {
  TimerNode* prev = nullptr;
  TimerNode* next = nullptr;
  std::uint64_t when_ms = 0;
};

template <class T>
class TimerWheel {
 public:
  TimerWheel() {
    for (auto& level : slots_)
      for (TimerNode& head : level) head.prev = head.next = &head;
  }
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // REQUIRES: node is in no list. A time that has passed is due at once.
  void set(T& node, std::uint64_t when_ms) {
    node.when_ms = when_ms;
    link(node);
  }

  void cancel(T& timed) {
    TimerNode& node = timed;
    TimerNode* const prev = node.prev;
    prev->next = node.next;
    node.next->prev = prev;
    node.prev = node.next = nullptr;
    // The last node of a slot leaves only the head, which points to itself: its bit is cleared when the slot is visited.
  }

  // Moves the wheel to `now_ms` and calls due(T&) for each node whose time has come, earliest first; the node is in no list
  // then. At most `limit` nodes; true if more are due.
  template <class Due>
  bool advance(std::uint64_t now_ms, std::size_t limit, Due&& due) {
    std::size_t done = 0;
    while (true) {
      const std::optional<Place> place = first();
      if (!place || place->at_ms > now_ms) break;
      now_ms_ = place->at_ms > now_ms_ ? place->at_ms : now_ms_;
      TimerNode& head = slots_[place->level][place->slot];
      if (place->level > 0) {
        cascade(head, *place);
        continue;
      }
      while (head.next != &head) {
        if (done == limit) return true;
        T& node = static_cast<T&>(*head.next);
        cancel(node);
        ++done;
        due(node);
      }
      occupied_[0] &= ~(1ULL << place->slot);
    }
    if (now_ms > now_ms_) now_ms_ = now_ms;
    return false;
  }

  // Not later than the earliest timer; nullopt if there is none.
  std::optional<std::uint64_t> next_ms() {
    const std::optional<Place> place = first();
    if (!place) return std::nullopt;
    return place->at_ms;
  }

 private:
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kSlots = 1U << kBits;
  static constexpr unsigned kLevels = 11;  // 66 bits: every uint64

  struct Place {
    unsigned level;
    unsigned slot;
    std::uint64_t at_ms;
  };

  void link(TimerNode& node) {
    const std::uint64_t when = node.when_ms > now_ms_ ? node.when_ms : now_ms_;
    const std::uint64_t differs = when ^ now_ms_;
    const unsigned level = differs == 0 ? 0 : (63U - static_cast<unsigned>(std::countl_zero(differs))) / kBits;
    const unsigned slot = static_cast<unsigned>(when >> (kBits * level)) & (kSlots - 1);
    TimerNode& head = slots_[level][slot];
    node.prev = head.prev;
    node.next = &head;
    head.prev->next = &node;
    head.prev = &node;
    occupied_[level] |= 1ULL << slot;
  }

  void cascade(TimerNode& head, const Place& place) {
    occupied_[place.level] &= ~(1ULL << place.slot);
    while (head.next != &head) {
      TimerNode& node = *head.next;
      cancel(static_cast<T&>(node));
      link(node);
    }
  }

  // The earliest slot that holds a node, clearing the bits of those found empty.
  std::optional<Place> first() {
    for (unsigned level = 0; level < kLevels; ++level) {
      while (occupied_[level] != 0) {
        const unsigned slot = static_cast<unsigned>(std::countr_zero(occupied_[level]));
        const TimerNode& head = slots_[level][slot];
        if (head.next != &head) return Place{level, slot, start_of(level, slot)};
        occupied_[level] &= ~(1ULL << slot);
      }
    }
    return std::nullopt;
  }

  // Nodes on a level share all higher groups of their time with the wheel.
  std::uint64_t start_of(unsigned level, unsigned slot) const {
    const unsigned shift = kBits * level;
    const std::uint64_t higher = shift + kBits >= 64 ? 0 : (now_ms_ >> (shift + kBits)) << (shift + kBits);
    return higher | (static_cast<std::uint64_t>(slot) << shift);
  }

  std::array<std::array<TimerNode, kSlots>, kLevels> slots_;
  std::array<std::uint64_t, kLevels> occupied_{};
  std::uint64_t now_ms_ = 0;
};

}  // namespace sluice::engine
