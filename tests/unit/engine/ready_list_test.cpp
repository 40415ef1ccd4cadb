#include "engine/ready_list.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>
#include <utility>
#include <vector>

namespace sluice::engine {
namespace {

using Key = std::pair<int, std::uint64_t>;  // 9 - priority, position: the smallest is next

TEST_CASE("ready list: hands out by priority, then by position, wherever a message was put back") {
  const bool holds = rc::check([] {
    ReadyList list;
    std::set<Key> model;
    std::vector<Message*> all;
    std::vector<Message*> outside;
    const auto enter = [&](Message* message) {
      list.add(*message);
      model.insert({9 - message->priority, message->position});
    };
    const auto steps = *rc::gen::inRange(1, 100);
    for (int step = 0; step < steps; ++step) {
      const int choice = *rc::gen::inRange(0, 5);
      if (choice <= 1) {
        Message* const message = Message::make("x", "");
        message->position = all.size() + 1;
        message->priority = static_cast<std::uint8_t>(*rc::gen::inRange(0, 10));
        all.push_back(message);
        if (choice == 0) {
          enter(message);
        } else {
          outside.push_back(message);  // delayed: comes later, to its old place
        }
      } else if (choice == 2 && !outside.empty()) {
        const auto at = *rc::gen::inRange<std::size_t>(0, outside.size());
        enter(outside[at]);
        outside.erase(outside.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (choice == 3 && !model.empty()) {
        Message& message = list.pop();
        RC_ASSERT((Key{9 - message.priority, message.position} == *model.begin()));
        model.erase(model.begin());
        outside.push_back(&message);
      } else if (choice == 4 && !model.empty()) {
        const auto victim = std::next(model.begin(), *rc::gen::inRange<long>(0, static_cast<long>(model.size())));
        Message* const message = all[victim->second - 1];
        list.remove(*message);
        model.erase(victim);
        outside.push_back(message);
      }
      RC_ASSERT(list.empty() == model.empty());
    }
    for (Message* message : all) Message::free(message);
  });
  CHECK(holds);
}

}  // namespace
}  // namespace sluice::engine
