#include "cli/bench/progress.h"

#include <cmath>
#include <string>

#include "cli/bench/payload.h"
#include "cli/bench/result.h"
#include "cli/context.h"
#include "cli/text.h"

namespace sluice::cli {

Progress::Progress() : started_ns_(monotonic_ns()), last_ns_(started_ns_) {}

void Progress::line(const Counts& counts, bool consuming) {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t count = consuming ? counts.acked : counts.confirmed;
  const double seconds = static_cast<double>(now - last_ns_) / 1e9;
  const double rate = seconds > 0 ? static_cast<double>(count - last_count_) / seconds : 0;
  const auto elapsed = static_cast<std::uint64_t>(std::llround(static_cast<double>(now - started_ns_) / 1e9));
  note(std::to_string(elapsed) + " s  published " + group_digits(counts.published) + "  confirmed " +
       group_digits(counts.confirmed) + "  acked " + group_digits(counts.acked) + "  rate " +
       group_digits(static_cast<std::uint64_t>(rate)) + "/s" +
       (consuming ? "  p99 " + format_us(counts.p99_us) : std::string{}));
  last_ns_ = now;
  last_count_ = count;
}

double IntervalLatency::p99_us(const Histogram& all) {
  Histogram since(all);
  since.subtract(*before_);
  before_ = std::make_unique<Histogram>(all);
  return latency_of(since).p99_us;
}

}  // namespace sluice::cli
