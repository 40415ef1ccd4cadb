#pragma once
// engine/topic_trie.h: which queues are bound to a pattern that matches a topic.
//
// Place    Below engine/topic_index.h, which knows all bindings in order.
// Shapes   A tree of words, a node for each beginning of a pattern. Children by name are found in one table for all
//          nodes, by the numbers of node and word; `*` and `#` are fields of the node.
// Cost     A match walks the tree a word at a time with all nodes that the words so far lead to: at most two for each
//          of the level before, never one twice, so never more steps than the tree has nodes. It allocates nothing
//          once its vectors have grown. Nodes without queues and children go at once.
// Threads  one.
// Owns     nothing of the queues: one must be removed from all its patterns before it goes.
// Source   spec/topics.md section 2.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "engine/queue.h"

namespace sluice::engine {

class TopicTrie {
 public:
  TopicTrie() : nodes_(1) {}

  // REQUIRES: `pattern` is a pattern; the queue is not bound to it.
  void add(Queue& queue, std::string_view pattern);
  // REQUIRES: the queue is bound to it.
  void remove(Queue& queue, std::string_view pattern);
  // All queues that are bound to a pattern that matches, each once, in order of name. REQUIRES: `topic` is a topic.
  void match(std::string_view topic, std::vector<Queue*>& out);

  // For tests of what is left after a removal.
  std::size_t node_count() const { return nodes_.size() - free_.size(); }
  std::size_t word_count() const { return words_.size(); }
  std::size_t edge_count() const { return children_.size(); }

 private:
  using NodeIndex = std::uint32_t;   // 0 is the root, and as a child: none
  using WordNumber = std::uint32_t;  // from 1; 0 is a word that no pattern has

  struct ByName {
    bool operator()(const Queue* a, const Queue* b) const { return a->name < b->name; }
  };
  struct Node {
    absl::btree_set<Queue*, ByName> queues;  // bound to the pattern that ends here
    NodeIndex any_word = 0;
    NodeIndex any_rest = 0;
    std::uint32_t named_children = 0;

    bool is_empty() const { return queues.empty() && any_word == 0 && any_rest == 0 && named_children == 0; }
  };
  struct Word {
    WordNumber number = 0;
    std::uint32_t uses = 0;  // edges with it
  };
  using Edge = std::pair<NodeIndex, WordNumber>;

  WordNumber number_of(std::string_view word) const;
  NodeIndex child_of(NodeIndex parent, std::string_view word) const;
  NodeIndex child_or_new(NodeIndex parent, std::string_view word);
  void erase_child(NodeIndex parent, std::string_view word);
  NodeIndex new_node();
  WordNumber use_word(std::string_view word);
  void unuse_word(std::string_view word);

  void step(WordNumber word);
  void collect(NodeIndex node, std::vector<Queue*>& out);

  std::vector<Node> nodes_;
  std::vector<NodeIndex> free_;
  absl::flat_hash_map<Edge, NodeIndex> children_;  // looked up, never walked: its order is not ours
  absl::flat_hash_map<std::string, Word> words_;   // likewise
  std::vector<WordNumber> free_words_;
  WordNumber words_made_ = 0;

  // Of the call that runs; kept for their memory.
  std::vector<std::string_view> split_;
  std::vector<NodeIndex> path_;
  std::vector<NodeIndex> level_;
  std::vector<NodeIndex> next_level_;
  std::size_t sets_collected_ = 0;
};

}  // namespace sluice::engine
