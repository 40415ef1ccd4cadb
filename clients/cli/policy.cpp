#include "cli/policy.h"

#include <algorithm>
#include <array>
#include <variant>

#include "cli/options.h"

namespace sluice::cli {
namespace {

constexpr double kFactorMax = 1e6;
constexpr double kJitterMax = 1;

// How people write a value, and where it is kept.
using WholeField = std::optional<std::uint64_t>& (*)(QueuePolicy&);
using DecimalField = std::optional<double>& (*)(QueuePolicy&);
using WordField = std::optional<std::string>& (*)(QueuePolicy&);
using FlagField = std::optional<bool>& (*)(QueuePolicy&);
struct Count {
  WholeField field;
  std::uint64_t min = 0;
};
struct Duration {
  WholeField field;
};
struct Size {
  WholeField field;
};
struct Decimal {
  DecimalField field;
  double max = 0;
};
struct Word {
  WordField field;
  std::array<const char*, 4> words{};  // those that there are; the rest null
};

struct OnOff {
  FlagField field;
};

struct Row {
  const char* key;
  const char* flag;
  std::variant<Count, Duration, Size, Decimal, Word, OnOff> value;
  const char* help;
};

template <auto Member>
auto& field(QueuePolicy& policy) {
  return policy.*Member;
}
template <auto Member>
auto& backoff(QueuePolicy& policy) {
  return policy.backoff.*Member;
}

const std::array<Row, 15> kRows{{
    {"lease_ms", "--lease", Duration{field<&QueuePolicy::lease_ms>},
     "how long a consumer has for a message before it goes to another"},
    {"max_attempts", "--max-attempts", Count{field<&QueuePolicy::max_attempts>, 1},
     "failed attempts before a message is a dead letter"},
    {"backoff_initial_ms", "--backoff-initial", Duration{backoff<&BackoffPolicy::initial_ms>},
     "wait after the first failed attempt"},
    {"backoff_factor", "--backoff-factor", Decimal{backoff<&BackoffPolicy::factor>, kFactorMax},
     "by what the wait grows with each attempt"},
    {"backoff_max_ms", "--backoff-max", Duration{backoff<&BackoffPolicy::max_ms>}, "the longest wait"},
    {"backoff_jitter", "--backoff-jitter", Decimal{backoff<&BackoffPolicy::jitter>, kJitterMax},
     "0.2: each wait up to 20 % longer or shorter"},
    {"max_messages", "--max-messages", Count{field<&QueuePolicy::max_messages>},
     "at most so many messages; 0: no limit"},
    {"max_bytes", "--max-bytes", Size{field<&QueuePolicy::max_bytes>}, "at most so many bytes; 0B: no limit"},
    {"overflow", "--overflow",
     Word{field<&QueuePolicy::overflow>, {"reject", "block", "drop_oldest", "dead_letter_oldest"}},
     "at the limit: reject (the publish), block (let it wait), drop_oldest, or dead_letter_oldest"},
    {"block_timeout_ms", "--block-timeout", Duration{field<&QueuePolicy::block_timeout_ms>},
     "block: refused after waiting so long"},
    {"ttl_ms", "--ttl", Duration{field<&QueuePolicy::ttl_ms>},
     "how long a message without its own lives; 0s: for ever"},
    {"on_expiry", "--on-expiry", Word{field<&QueuePolicy::on_expiry>, {"dead_letter", "drop"}},
     "of what outlived that: dead_letter or drop"},
    {"dedup_window_ms", "--dedup-window", Duration{field<&QueuePolicy::dedup_window_ms>},
     "how long deduplication keys are remembered; 0s: not at all"},
    {"dead_letter_max", "--dlq-max", Count{field<&QueuePolicy::dead_letter_max>},
     "dead letters kept; the oldest go first"},
    {"durable", "--durable", OnOff{field<&QueuePolicy::durable>},
     "off: messages are not kept in the broker's journal, and are gone when it stops"},
}};

struct AddFlag {
  CLI::App& command;
  QueuePolicy& policy;
  const Row& row;

  void operator()(const Count& value) const {
    add_number(command, row.flag, value.field(policy), {.min = value.min}, row.help);
  }
  void operator()(const Duration& value) const { add_duration(command, row.flag, value.field(policy), row.help); }
  void operator()(const Size& value) const { add_size(command, row.flag, value.field(policy), row.help); }
  void operator()(const Decimal& value) const {
    add_decimal(command, row.flag, value.field(policy), 0, value.max, row.help);
  }
  void operator()(const Word& value) const {
    std::vector<std::string> words;
    for (const char* const word : value.words)
      if (word != nullptr) words.emplace_back(word);
    add_choice(command, row.flag, value.field(policy), "HOW", std::move(words), row.help);
  }
  void operator()(const OnOff& value) const {
    std::optional<bool>& target = value.field(policy);
    add_value(command, row.flag, "on|off", row.help, [&target](const std::string& flag, const std::string& text) {
      target = parse_choice(flag, text, {"on", "off"}) == "on";
    });
  }
};

struct AddFact {
  Facts& facts;
  QueuePolicy& policy;
  const Row& row;

  void operator()(const Count& value) const { facts.add(row.key, value.field(policy).value_or(0)); }
  void operator()(const Duration& value) const { facts.add_duration(row.key, value.field(policy).value_or(0)); }
  void operator()(const Size& value) const { facts.add_size(row.key, value.field(policy).value_or(0)); }
  void operator()(const Decimal& value) const { facts.add(row.key, json_line(value.field(policy).value_or(0))); }
  void operator()(const Word& value) const { facts.add(row.key, value.field(policy).value_or("")); }
  void operator()(const OnOff& value) const { facts.add(row.key, value.field(policy).value_or(false) ? "yes" : "no"); }
};

}  // namespace

void add_policy_flags(CLI::App& command, QueuePolicy& policy) {
  for (const Row& row : kRows) std::visit(AddFlag{command, policy, row}, row.value);
}

bool any_set(const QueuePolicy& policy) { return !json_of(policy).empty(); }

void add_policy_facts(Facts& facts, const QueuePolicy& policy) {
  QueuePolicy copy = policy;  // the table's fields are writable
  for (const Row& row : kRows) std::visit(AddFact{facts, copy, row}, row.value);
}

Json json_of(const QueuePolicy& policy) {
  QueuePolicy copy = policy;
  Json object = Json::object();
  for (const Row& row : kRows) {
    const auto add = [&](const auto& value) {
      if (const auto& set = value.field(copy)) object[row.key] = *set;
    };
    std::visit(add, row.value);
  }
  return object;
}

}  // namespace sluice::cli
