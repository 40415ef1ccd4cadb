#pragma once
// engine/topic_index.h: all bindings of queues to patterns: in order, to be listed, and as a tree, to be matched.
//
// Units    Memory of a binding, beside the queue, as measured with 100,000 of them: 60 bytes where many queues share a
//          pattern, 200 with a last word of its own, 300 for one like `orders.eu.customer-4711.#` (a word, two nodes
//          and a long text of its own). Of what is unbound up to 200 bytes are kept, for those to come.
// Errors   binding_limit.
// Threads  one.
// Owns     the patterns; not the queues: remove_all() before one goes. A queue's name must not change.
// Source   spec/topics.md.

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_set.h>

#include "base/error.h"
#include "engine/queue.h"
#include "engine/topic_trie.h"

namespace sluice::engine {

struct Binding {
  Queue* queue;
  std::string pattern;
};

struct BindingFilter {
  std::string_view queue = {};         // this one only, if not empty
  std::string_view queue_prefix = {};  // those whose name begins so
  std::string_view after_queue = {};   // the last binding of the page before: what is greater follows
  std::string_view after_pattern = {};
};

struct BindingPage {
  std::vector<const Binding*> bindings;  // valid until the next change
  bool more = false;
};

class TopicIndex {
 public:
  explicit TopicIndex(std::size_t bindings_max = 1'000'000) : bindings_max_(bindings_max) {}

  // False if the queue is bound to it already. REQUIRES: `pattern` is a pattern.
  bool add(Queue& queue, std::string_view pattern);
  // False if the queue is not bound to it.
  bool remove(Queue& queue, std::string_view pattern);
  // How many there were.
  std::size_t remove_all(Queue& queue);

  // The queues that get a message published to `topic`: each once, in order of name, in place of what `out` held.
  // REQUIRES: `topic` is a topic.
  void match(std::string_view topic, std::vector<Queue*>& out) { trie_.match(topic, out); }

  // In order, byte by byte; views are valid until the next change.
  std::vector<std::string_view> patterns(const Queue& queue) const;
  // In order of queue and pattern.
  BindingPage page(const BindingFilter& filter, std::size_t limit) const;
  bool contains(const Queue& queue, std::string_view pattern) const {
    return bindings_.contains(Key{queue.name, pattern});
  }
  std::size_t size() const { return bindings_.size(); }
  // Nothing, or binding_limit: there may not be another one.
  Result<void> room() const;

  const TopicTrie& trie() const { return trie_; }

 private:
  struct Key {
    std::string_view queue;
    std::string_view pattern;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct InOrder {
    using is_transparent = void;
    static Key key_of(const Binding& binding) { return {binding.queue->name, binding.pattern}; }
    static const Key& key_of(const Key& key) { return key; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return key_of(a) < key_of(b);
    }
  };

  std::size_t bindings_max_;
  absl::btree_set<Binding, InOrder> bindings_;
  TopicTrie trie_;
};

}  // namespace sluice::engine
