#pragma once
// cli/all_queues.h: every queue of a prefix, however many pages that takes.

#include <string>
#include <vector>

#include "sluice/client.h"

namespace sluice::cli {

inline std::vector<QueueInfo> all_queues(Client& client, const std::string& prefix) {
  std::vector<QueueInfo> all;
  std::string after;
  while (true) {
    QueueList page = client.list_queues(prefix, after);
    for (QueueInfo& queue : page.queues) all.push_back(std::move(queue));
    if (!page.more || all.empty() || all.back().name == after) return all;
    after = all.back().name;
  }
}

}  // namespace sluice::cli
