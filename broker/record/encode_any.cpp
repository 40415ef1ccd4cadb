#include <vector>

#include "record/encode.h"

namespace sluice::record {
namespace {

struct Write {
  RecordWriter& out;

  void operator()(const Marks& record) const { out.marks(record); }
  void operator()(const Queue& record) const { out.queue(record); }
  void operator()(const QueueDeleted& record) const { out.queue_deleted(record.queue); }
  void operator()(const Bound& record) const { out.bound(record.queue, record.pattern); }
  void operator()(const Unbound& record) const { out.unbound(record.queue, record.pattern); }
  void operator()(const Published& record) const {
    out.begin_published(record.queue, record.first_key, record.first_id, record.published_ms, record.producer,
                        record.first_sequence);
    for (const PublishedMessage& message : record.messages) {
      out.add_message(message.priority, message.due_ms, message.expires_ms, message.dedup_key, message.body.headers,
                      message.body.payload);
    }
    out.end_published();
  }
  void operator()(const Message& record) const {
    std::vector<Copy> copies;
    for (const Copy& copy : record.copies) copies.push_back(copy);
    out.message(record, copies);
  }
  void operator()(const Delivered& record) const { out.delivered(record.first_key, record.first_lease, record.count); }
  void operator()(const Ended& record) const { out.ended(record.how, record.first_key, record.count); }
  void operator()(const Returned& record) const { out.returned(record); }
  void operator()(const DeadLettered& record) const { out.dead_lettered(record); }
  void operator()(const Replayed& record) const { out.replayed(record.key, record.queue, record.position); }
  void operator()(const Producer& record) const {
    out.producer(record.producer, record.name, record.last_sequence, record.accepted, record.refused);
  }
  void operator()(const Refused& record) const { out.refused(record.producer, record.range); }
  void operator()(const Accepted& record) const { out.accepted(record.producer, record.range); }
  void operator()(const ProducerGone& record) const { out.producer_gone(record.producer); }
  void operator()(const DedupKey& record) const { out.dedup_key(record.queue, record.key, record.id, record.at_ms); }
  void operator()(const Opened& record) const { out.opened(record.at_ms); }
  void operator()(const Closed& record) const { out.closed(record.at_ms); }
};

}  // namespace

void RecordWriter::write(const Record& record) { std::visit(Write{*this}, record); }

}  // namespace sluice::record
