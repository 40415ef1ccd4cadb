#pragma once
// cli/commands/commands.h: one function a file of this folder; each adds its commands to the tree.

#include "cli/registry.h"

namespace sluice::cli {

void add_pub(Registry& registry);
void add_sub(Registry& registry);
void add_get(Registry& registry);
void add_peek(Registry& registry);
void add_queue_commands(Registry& registry);
void add_dlq_commands(Registry& registry);
void add_bind_commands(Registry& registry);
void add_consumer_commands(Registry& registry);
void add_conn_commands(Registry& registry);
void add_server_commands(Registry& registry);
void add_journal_commands(Registry& registry);
void add_bench(Registry& registry);

}  // namespace sluice::cli
