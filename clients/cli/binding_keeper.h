#pragma once
// cli/binding_keeper.h: keeps a queue bound to a pattern as long as its subscriber runs, also across a restart of the broker.
//
// Place    commands/sub → [binding_keeper] → the client.
// Threads  what renewal() returns may be called from any thread, also after the keeper is gone, and from callbacks of the client: the
//          request is made on a thread of the keeper's own. The rest from one thread.
// Owns     that thread; borrows the client, which outlives it.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "sluice/client.h"

namespace sluice::cli {

class BindingKeeper {
 public:
  explicit BindingKeeper(Client& client) : client_(client), wish_(std::make_shared<Wish>()) {}
  ~BindingKeeper() { close(); }
  BindingKeeper(const BindingKeeper&) = delete;
  BindingKeeper& operator=(const BindingKeeper&) = delete;

  // Binds, and notes it if that is new. Throws ClientError. Once at most.
  void keep(Binding binding);
  // To be called when the broker is back: one that keeps its data in memory has forgotten the binding.
  std::function<void()> renewal() const;
  // The binding stays.
  void close();

 private:
  struct Wish {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    bool renew = false;
    bool close = false;
  };

  bool wait_for_wish();  // false: to close
  void renew();
  void bind();

  Client& client_;
  Binding binding_;
  std::shared_ptr<Wish> wish_;
  std::thread thread_;
};

}  // namespace sluice::cli
