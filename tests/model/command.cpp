#include "command.h"

#include "told.h"

namespace sluice::model {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }
std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string text(const Open& open) { return "open" + (open.producer.empty() ? "" : " producer " + open.producer); }
std::string text(const Close&) { return "close"; }
std::string text(const Drain&) { return "drain"; }
std::string text(const BadPublish& bad) {
  return "undecodable publish " + number(bad.first_sequence) + " x" + number(bad.count);
}

std::string text(const wire::Publish& frame) {
  std::string out = std::string("publish to ") + (frame.kind == wire::PublishKind::topic ? "topic " : "") +
                    quoted(frame.queue) + " from " + number(frame.first_sequence) + ":";
  for (const wire::PublishMessage& message : frame.messages) {
    out += " [" + quoted(message.payload) + " prio " + number(message.priority);
    if (!message.headers.empty()) out += " headers " + number(message.headers.size());
    if (message.delay_ms != 0) out += " delay " + number(message.delay_ms);
    if (message.ttl_ms != 0) out += " ttl " + number(message.ttl_ms);
    if (!message.dedup_key.empty()) out += " key " + std::string(message.dedup_key);
    out += "]";
  }
  return out;
}

std::string text(const wire::Consume& frame) {
  return "consume " + number(frame.consumer) + " of " + quoted(frame.queue) +
         (frame.topic.empty() ? "" : " topic " + quoted(frame.topic)) + " credit " + number(frame.credit_messages) +
         "/" + number(frame.credit_bytes) + (frame.policy.empty() ? "" : " policy " + shown(frame.policy));
}

std::string text(const wire::Cancel& frame) { return "cancel " + number(frame.consumer); }

std::string text(const wire::Settle& frame) {
  static const char* const kVerbs[] = {"", "ack", "nack", "release", "reject", "extend"};
  std::string out = "settle" + (frame.request ? " request " + number(*frame.request) : "");
  for (const wire::Settlement& settlement : frame.settlements) {
    out += std::string(" [") + kVerbs[static_cast<std::size_t>(settlement.verb)] + " " +
           number(settlement.first_lease) + "-" + number(settlement.last_lease);
    if (settlement.delay_ms) out += " delay " + number(*settlement.delay_ms);
    if (settlement.lease_ms) out += " lease " + number(*settlement.lease_ms);
    if (!settlement.reason.empty()) out += " because " + quoted(settlement.reason);
    out += "]";
  }
  for (const wire::Grant& grant : frame.grants)
    out += " [grant " + number(grant.consumer) + ": " + number(grant.messages) + "/" + number(grant.bytes) + "]";
  return out;
}

std::string text(const wire::Request& frame) { return frame.verb + " " + shown(frame.arguments); }

}  // namespace

std::string shown(const Command& command) {
  return "session " + number(command.session) + ": " +
         std::visit([](const auto& action) { return text(action); }, command.action);
}

}  // namespace sluice::model
