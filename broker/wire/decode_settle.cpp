// wire/decode_settle.cpp: SETTLE to the broker.
//
// Source   spec/protocol.md section 9.

#include "wire/cat.h"
#include "wire/decode.h"

namespace sluice::wire {
namespace {

enum Option : std::size_t { kReason, kDelayMs, kLeaseMs };
constexpr std::string_view kOptions[] = {"reason", "delay_ms", "lease_ms"};

constexpr auto kVerbMax = static_cast<std::uint64_t>(Verb::extend);

bool takes(Verb verb, Option option) {
  switch (verb) {
    case Verb::ack:
    case Verb::release:
      return false;
    case Verb::nack:
      return option == kReason || option == kDelayMs;
    case Verb::reject:
      return option == kReason;
    case Verb::extend:
      return option == kLeaseMs;
  }
  return false;
}

bool verb(Reader& reader, const Path& path, Verb& out) {
  std::uint64_t number = 0;
  if (!reader.uint_within(path, 1, kVerbMax, number)) return false;
  out = static_cast<Verb>(number);
  return true;
}

bool options(Reader& reader, const Path& path, Settlement& out) {
  return read_options(reader, path, kOptions, UnknownKeys::refuse, [&](std::size_t name, const Path& at) {
    const auto option = static_cast<Option>(name);
    if (!takes(out.verb, option)) {
      return reader.fail(ErrorCode::bad_field, at, cat("is no option of verb ", static_cast<unsigned>(out.verb)));
    }
    switch (option) {
      case kReason:
        return reader.text(at, out.reason);
      case kDelayMs:
        return reader.uint_within(at, 0, kDelayMsMax, out.delay_ms.emplace());
      case kLeaseMs:
        return reader.uint_within(at, kLeaseMsMin, kLeaseMsMax, out.lease_ms.emplace());
    }
    return false;
  });
}

bool range_fits(Reader& reader, const Path& path, const Settlement& settlement) {
  if (settlement.first_lease <= settlement.last_lease &&
      settlement.last_lease - settlement.first_lease < kSettleLeasesMax) {
    return true;
  }
  return reader.fail(ErrorCode::bad_field, path,
                     cat("must be a range of 1 to ", kSettleLeasesMax, " leases, is ", settlement.first_lease, " to ",
                         settlement.last_lease));
}

// A few bytes name many leases, and the broker looks at each: so many ranges may not name any number of them.
bool frame_fits(Reader& reader, const Path& path, const Settlement& next, std::uint64_t& leases) {
  leases += next.last_lease - next.first_lease + 1;
  if (leases <= kSettleLeasesMax) return true;
  return reader.fail(ErrorCode::bad_field, path,
                     cat("a frame settles at most ", kSettleLeasesMax, " leases, with this one it has ", leases));
}

bool settlement(Reader& reader, const Path& path, Settlement& out) {
  Fields fields(reader, path);
  return fields.open() && fields.required("verb", [&](const Path& at) { return verb(reader, at, out.verb); }) &&
         fields.uint("first_lease", out.first_lease) && fields.uint("last_lease", out.last_lease) &&
         range_fits(reader, path, out) &&
         fields.optional("options", [&](const Path& at) { return options(reader, at, out); }) && fields.close();
}

// [verb, first, last] and nothing more, which nearly every settlement is. What is odd goes the long way, to its error.
bool plain_settlement(Reader& reader, Settlement& out) {
  const Token* const token = reader.ahead();
  if (token[0].kind != Kind::array || token[0].count != 3) return false;
  if (token[1].kind != Kind::uint || token[2].kind != Kind::uint || token[3].kind != Kind::uint) return false;
  const std::uint64_t first = token[2].number;
  const std::uint64_t last = token[3].number;
  if (token[1].number - 1 >= kVerbMax || first > last || last - first >= kSettleLeasesMax) return false;
  out.verb = static_cast<Verb>(token[1].number);
  out.first_lease = first;
  out.last_lease = last;
  reader.take(4);
  return true;
}

bool grant(Reader& reader, const Path& path, Grant& out) {
  Fields fields(reader, path);
  return fields.open() && fields.uint("consumer", out.consumer) && fields.uint("messages", out.messages) &&
         fields.uint("bytes", out.bytes) && fields.close();
}

}  // namespace

bool read_settle(Reader& reader, Fields& fields, Settle& out) {
  const auto settlements = [&](const Path& path) {
    std::uint64_t leases = 0;
    return reader.items(path, out.settlements, [&](const Path& at, Settlement& item) {
      return (plain_settlement(reader, item) || settlement(reader, at, item)) && frame_fits(reader, at, item, leases);
    });
  };
  const auto grants = [&](const Path& path) {
    return reader.items(path, out.grants, [&](const Path& at, Grant& item) { return grant(reader, at, item); });
  };
  return fields.uint_or_nil("request", out.request) && fields.optional("settlements", settlements) &&
         fields.optional("grants", grants);
}

}  // namespace sluice::wire
