#pragma once
// cli/all_pages.h: everything of one kind that the broker has, however many pages that takes.

#include <string>
#include <utility>
#include <vector>

#include "sluice/client.h"

namespace sluice::cli {
namespace internal {

// `fetch` takes the last entry of the page before (null: there is none) and returns a page; `list` is the page's member that holds
// the entries.
template <class Page, class Entry, class Fetch>
std::vector<Entry> all_pages(std::vector<Entry> Page::*list, const Fetch& fetch) {
  std::vector<Entry> all;
  while (true) {
    Page page = fetch(all.empty() ? nullptr : &all.back());
    std::vector<Entry>& entries = page.*list;
    const bool last = !page.more || entries.empty();
    for (Entry& entry : entries) all.push_back(std::move(entry));
    if (last) return all;
  }
}

}  // namespace internal

inline std::vector<QueueInfo> all_queues(Client& client, const std::string& prefix) {
  return internal::all_pages(&QueueList::queues, [&](const QueueInfo* last) {
    return client.list_queues(prefix, last == nullptr ? "" : last->name);
  });
}

inline std::vector<Binding> all_bindings(Client& client, const std::string& queue) {
  return internal::all_pages(&BindingList::bindings, [&](const Binding* last) {
    return client.list_bindings(queue, "", last == nullptr ? Binding{} : *last);
  });
}

inline std::vector<ConsumerInfo> all_consumers(Client& client, const std::string& queue) {
  return internal::all_pages(&ConsumerList::consumers, [&](const ConsumerInfo* last) {
    return client.list_consumers(queue, last == nullptr ? "" : last->queue);
  });
}

inline std::vector<SessionInfo> all_sessions(Client& client) {
  return internal::all_pages(&SessionList::sessions, [&](const SessionInfo* last) {
    return client.list_sessions(last == nullptr ? 0 : last->session);
  });
}

}  // namespace sluice::cli
