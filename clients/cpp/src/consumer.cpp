#include "sluice/consumer.h"

#include <utility>

#include "consumer_core.h"
#include "core.h"
#include "errors.h"

namespace sluice {

Consumer::Consumer(Client& client, std::string_view queue, Handler handler, const ConsumeOptions& options) {
  if (handler == nullptr) throw internal::make_local_error(kErrorBadArgument, "the handler must not be empty");
  core_ = client.core()->consume(queue, options);
  core_->start_handler(std::move(handler));
}

Consumer::Consumer(Client& client, std::string_view queue, const ConsumeOptions& options)
    : core_(client.core()->consume(queue, options)) {}

Consumer::~Consumer() {
  if (core_ != nullptr) close();
}

Consumer::Consumer(Consumer&&) noexcept = default;

Consumer& Consumer::operator=(Consumer&& other) noexcept {
  if (this == &other) return *this;
  if (core_ != nullptr) close();
  core_ = std::move(other.core_);
  return *this;
}

std::optional<Delivery> Consumer::receive(std::optional<Milliseconds> timeout) { return core_->receive(timeout); }
void Consumer::on_stale(StaleCallback callback) { core_->on_stale(std::move(callback)); }
std::optional<ClientError> Consumer::failure() const { return core_->failure(); }

void Consumer::close() {
  core_->close();
  core_->wait_handler(std::nullopt);
}

}  // namespace sluice
