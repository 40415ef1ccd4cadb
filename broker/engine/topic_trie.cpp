#include "engine/topic_trie.h"

#include <algorithm>
#include <type_traits>

#include <absl/strings/string_view.h>

#include "base/check.h"
#include "engine/topic_pattern.h"

namespace sluice::engine {
namespace {

// Debian's absl has a string_view of its own, which alone is hashed as std::string is.
absl::string_view key_of(std::string_view word) { return {word.data(), word.size()}; }

}  // namespace

void TopicTrie::add(Queue& queue, std::string_view pattern) {
  split_words(pattern, split_);
  NodeIndex node = 0;
  for (const std::string_view word : split_) node = child_or_new(node, word);
  SLUICE_CHECK(nodes_[node].queues.insert(&queue).second);
}

void TopicTrie::remove(Queue& queue, std::string_view pattern) {
  split_words(pattern, split_);
  path_.assign(1, 0);
  for (const std::string_view word : split_) {
    path_.push_back(child_of(path_.back(), word));
    SLUICE_CHECK(path_.back() != 0);
  }
  SLUICE_CHECK(nodes_[path_.back()].queues.erase(&queue) == 1);
  for (std::size_t i = split_.size(); i > 0 && nodes_[path_[i]].is_empty(); --i) {
    erase_child(path_[i - 1], split_[i - 1]);
    free_.push_back(path_[i]);
  }
}

void TopicTrie::match(std::string_view topic, std::vector<Queue*>& out) {
  out.clear();
  sets_collected_ = 0;
  split_words(topic, split_);
  level_.assign(1, 0);
  for (const std::string_view word : split_) {
    if (level_.empty()) break;
    for (const NodeIndex node : level_) collect(nodes_[node].any_rest, out);
    step(number_of(word));
  }
  for (const NodeIndex node : level_) {
    collect(nodes_[node].any_rest, out);  // no words are a rest too
    collect(node, out);
  }
  if (sets_collected_ < 2) return;  // it came in order
  std::sort(out.begin(), out.end(), ByName());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

// From the nodes of one level to their children that take `word`.
void TopicTrie::step(WordNumber word) {
  next_level_.clear();
  for (const NodeIndex index : level_) {
    const Node& node = nodes_[index];
    if (node.any_word != 0) next_level_.push_back(node.any_word);
    if (word == 0 || node.named_children == 0) continue;
    const auto child = children_.find(Edge{index, word});
    if (child != children_.end()) next_level_.push_back(child->second);
  }
  level_.swap(next_level_);
}

void TopicTrie::collect(NodeIndex node, std::vector<Queue*>& out) {
  const auto& queues = nodes_[node].queues;
  if (queues.empty()) return;  // so is the root, which stands for no child
  ++sets_collected_;
  out.insert(out.end(), queues.begin(), queues.end());
}

TopicTrie::WordNumber TopicTrie::number_of(std::string_view word) const {
  const auto found = words_.find(key_of(word));
  return found == words_.end() ? 0 : found->second.number;
}

TopicTrie::NodeIndex TopicTrie::child_of(NodeIndex parent, std::string_view word) const {
  if (word == kAnyWord) return nodes_[parent].any_word;
  if (word == kAnyRest) return nodes_[parent].any_rest;
  const auto found = children_.find(Edge{parent, number_of(word)});
  return found == children_.end() ? 0 : found->second;
}

TopicTrie::NodeIndex TopicTrie::child_or_new(NodeIndex parent, std::string_view word) {
  if (const NodeIndex child = child_of(parent, word)) return child;
  const NodeIndex child = new_node();
  Node& node = nodes_[parent];
  if (word == kAnyWord) return node.any_word = child;
  if (word == kAnyRest) return node.any_rest = child;
  ++node.named_children;
  children_.emplace(Edge{parent, use_word(word)}, child);
  return child;
}

void TopicTrie::erase_child(NodeIndex parent, std::string_view word) {
  Node& node = nodes_[parent];
  if (word == kAnyWord) {
    node.any_word = 0;
  } else if (word == kAnyRest) {
    node.any_rest = 0;
  } else {
    --node.named_children;
    SLUICE_CHECK(children_.erase(Edge{parent, number_of(word)}) == 1);
    unuse_word(word);
  }
}

TopicTrie::NodeIndex TopicTrie::new_node() {
  static_assert(std::is_nothrow_move_constructible_v<Node>, "a growing vector would copy all sets");
  if (free_.empty()) {
    nodes_.emplace_back();
    return static_cast<NodeIndex>(nodes_.size() - 1);
  }
  const NodeIndex node = free_.back();
  free_.pop_back();
  return node;
}

TopicTrie::WordNumber TopicTrie::use_word(std::string_view word) {
  Word& used = words_.try_emplace(key_of(word)).first->second;
  if (used.uses++ > 0) return used.number;
  if (free_words_.empty()) return used.number = ++words_made_;
  used.number = free_words_.back();
  free_words_.pop_back();
  return used.number;
}

void TopicTrie::unuse_word(std::string_view word) {
  const auto found = words_.find(key_of(word));
  SLUICE_CHECK(found != words_.end());
  if (--found->second.uses > 0) return;
  free_words_.push_back(found->second.number);
  words_.erase(found);
}

}  // namespace sluice::engine
