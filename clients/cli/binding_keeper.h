#pragma once
// cli/binding_keeper.h: keeps a queue bound to a pattern as long as its subscriber runs, also across a restart of the broker.
//
// Place    commands/sub → [binding_keeper] → the client.
// Threads  renew() from any thread, also from a callback of the client: the request is made on a thread of the keeper's own.
// Owns     that thread; borrows the client, which outlives it.

#include <condition_variable>
#include <mutex>
#include <thread>

#include "sluice/client.h"

namespace sluice::cli {

class BindingKeeper {
 public:
  explicit BindingKeeper(Client& client) : client_(client) {}
  ~BindingKeeper() { close(); }
  BindingKeeper(const BindingKeeper&) = delete;
  BindingKeeper& operator=(const BindingKeeper&) = delete;

  // Binds, and notes it if that is new. Throws ClientError. Once at most.
  void keep(Binding binding);
  // A broker that keeps its data in memory has forgotten the binding when it comes back. Does nothing before keep().
  void renew();
  // The binding stays.
  void close();

 private:
  void renew_when_asked();
  void bind();

  Client& client_;
  Binding binding_;
  std::thread thread_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool asked_ = false;
  bool closed_ = false;
};

}  // namespace sluice::cli
