#include "cli/bench/result.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "cli/text.h"

namespace sluice::cli {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kNsPerUs = 1e3;

double rounded(double number) { return std::round(number * 10) / 10; }

std::string fixed(double number, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, number);
  return text;
}

std::string duration_text(const BenchResult& result) {
  const BenchParameters& parameters = result.parameters;
  return parameters.duration_ms > 0 ? fixed(static_cast<double>(parameters.duration_ms) / 1e3, 1) + " s"
                                    : group_digits(parameters.messages) + " messages";
}

std::string parameters_text(const BenchResult& result) {
  const BenchParameters& parameters = result.parameters;
  std::ostringstream text;
  text << count_of(parameters.producers, "producer") << ", " << count_of(parameters.consumers, "consumer");
  if (parameters.connections < parameters.consumers) text << " on " << count_of(parameters.connections, "connection");
  text << ", " << (parameters.topic ? "a subscription each" : count_of(parameters.queues, "queue")) << ", "
       << duration_text(result) << " of " << parameters.size_bytes << " B, prefetch " << parameters.prefetch
       << ", batch " << parameters.batch << ", "
       << (parameters.rate > 0 ? fixed(parameters.rate, 0) + "/s" : std::string("as fast as possible"));
  if (parameters.work_ms > 0) text << ", " << parameters.work_ms << " ms of work each";
  if (parameters.warmup > 0) text << ", " << group_digits(parameters.warmup) << " to warm up";
  if (parameters.separate) text << ", separate processes";
  return text.str();
}

}  // namespace

Latency latency_of(const Histogram& histogram) {
  const auto us = [&](double part) { return rounded(static_cast<double>(histogram.percentile(part)) / kNsPerUs); };
  return {us(0.5), us(0.9), us(0.99), us(0.999), rounded(static_cast<double>(histogram.max()) / kNsPerUs)};
}

std::uint64_t BenchResult::messages() const {
  return consumed ? consumed->measured / parameters.copies() : produced->confirmed;
}

double BenchResult::seconds() const {
  std::uint64_t started = consumed ? consumed->started_ns : produced->started_ns;
  std::uint64_t ended = consumed ? consumed->ended_ns : produced->ended_ns;
  if (consumed && produced) ended = std::max(ended, produced->ended_ns);
  return ended > started && started > 0 ? static_cast<double>(ended - started) / kNsPerSecond : 0;
}

double BenchResult::rate() const { return seconds() > 0 ? static_cast<double>(messages()) / seconds() : 0; }

std::uint64_t BenchResult::lost() const {
  if (!produced || !consumed) return 0;
  const std::uint64_t expected = produced->confirmed * parameters.copies();
  return expected - std::min(expected, consumed->acked);
}

std::string BenchResult::failure() const {
  if (produced && !produced->failure.empty()) return produced->failure;
  if (consumed && !consumed->failure.empty()) return consumed->failure;
  if (produced && produced->confirmed != produced->published)
    return group_digits(produced->published - produced->confirmed) + " of " + count_of(produced->published, "message") +
           " not confirmed";
  if (lost() > 0) return count_of(lost(), "message") + " confirmed but not received";
  if (consumed && consumed->doubled > 0) return count_of(consumed->doubled, "message") + " received twice";
  if (consumed && consumed->altered > 0) return count_of(consumed->altered, "message") + " altered";
  return {};
}

Json json_of(const Latency& latency) {
  return {{"p50", latency.p50_us},
          {"p90", latency.p90_us},
          {"p99", latency.p99_us},
          {"p999", latency.p999_us},
          {"max", latency.max_us}};
}

Json json_of(const ProducersResult& result) {
  return {{"published", result.published},
          {"confirmed", result.confirmed},
          {"started_ns", result.started_ns},
          {"ended_ns", result.ended_ns},
          {"failure", result.failure}};
}

Json json_of(const ConsumersResult& result) {
  return {{"acked", result.acked},
          {"measured", result.measured},
          {"redelivered", result.redelivered},
          {"doubled", result.doubled},
          {"altered", result.altered},
          {"foreign", result.foreign},
          {"started_ns", result.started_ns},
          {"ended_ns", result.ended_ns},
          {"left", result.left},
          {"latency_us", json_of(result.latency)},
          {"failure", result.failure}};
}

ProducersResult producers_result_of(const Json& object) {
  return {object.at("published"), object.at("confirmed"), object.at("started_ns"), object.at("ended_ns"),
          object.at("failure")};
}

ConsumersResult consumers_result_of(const Json& object) {
  const Json& latency = object.at("latency_us");
  ConsumersResult result;
  result.acked = object.at("acked");
  result.measured = object.at("measured");
  result.redelivered = object.at("redelivered");
  result.doubled = object.at("doubled");
  result.altered = object.at("altered");
  result.foreign = object.at("foreign");
  result.started_ns = object.at("started_ns");
  result.ended_ns = object.at("ended_ns");
  result.left = object.at("left");
  result.latency = {latency.at("p50"), latency.at("p90"), latency.at("p99"), latency.at("p999"), latency.at("max")};
  result.failure = object.at("failure");
  return result;
}

Json json_of(const BenchResult& result) {
  Json object = {{"messages", result.messages()}, {"seconds", result.seconds()}, {"rate", rounded(result.rate())}};
  if (result.parameters.topic) {
    object["deliveries"] = result.deliveries();
    object["deliveries_rate"] = rounded(result.deliveries_rate());
  }
  if (result.consumed) object["latency_us"] = json_of(result.consumed->latency);
  // As fast as possible, the queue fills: then latency is mostly the time in it.
  object["saturated"] = result.parameters.rate <= 0;
  object["payload_bytes_per_second"] = rounded(result.rate() * static_cast<double>(result.parameters.size_bytes));
  if (result.produced) {
    object["published"] = result.produced->published;
    object["confirmed"] = result.produced->confirmed;
  }
  if (result.consumed) {
    object["acked"] = result.consumed->acked;
    object["redelivered"] = result.consumed->redelivered;
    object["foreign"] = result.consumed->foreign;
    object["left"] = result.consumed->left;
    if (result.parameters.verify)
      object["verify"] = {
          {"lost", result.lost()}, {"doubled", result.consumed->doubled}, {"altered", result.consumed->altered}};
  }
  object["parameters"] = json_of(result.parameters);
  return object;
}

std::string csv_heading() {
  return "messages,seconds,rate,p50_us,p90_us,p99_us,p999_us,max_us,redelivered,lost,doubled,altered,producers,"
         "consumers,queues,"
         "size_bytes,prefetch,batch,wanted_rate,work_ms,warmup,separate,verify,topic,connections";
}

std::string csv_of(const BenchResult& result) {
  const ConsumersResult consumed = result.consumed.value_or(ConsumersResult{});
  const Latency& latency = consumed.latency;
  const BenchParameters& parameters = result.parameters;
  std::ostringstream line;
  line << result.messages() << ',' << fixed(result.seconds(), 6) << ',' << fixed(result.rate(), 1);
  for (const double us : {latency.p50_us, latency.p90_us, latency.p99_us, latency.p999_us, latency.max_us})
    line << ',' << fixed(us, 1);
  line << ',' << consumed.redelivered << ',' << result.lost() << ',' << consumed.doubled << ',' << consumed.altered
       << ',' << parameters.producers << ',' << parameters.consumers << ',' << parameters.queues << ','
       << parameters.size_bytes << ',' << parameters.prefetch << ',' << parameters.batch << ','
       << fixed(parameters.rate, 3) << ',' << parameters.work_ms << ',' << parameters.warmup << ','
       << (parameters.separate ? 1 : 0) << ',' << (parameters.verify ? 1 : 0) << ',' << (parameters.topic ? 1 : 0)
       << ',' << parameters.connections;
  return line.str();
}

std::string format_us(double microseconds) {
  if (microseconds < 1'000) return fixed(microseconds, microseconds < 100 ? 1 : 0) + " us";
  if (microseconds < 1'000'000) return fixed(microseconds / 1'000, 2) + " ms";
  return fixed(microseconds / 1'000'000, 2) + " s";
}

std::string text_of(const BenchResult& result) {
  constexpr double kMega = 1e6;
  std::ostringstream text;
  const bool both = result.produced && result.consumed;
  text << "messages    " << group_digits(result.messages())
       << (both              ? " confirmed, and acked one by one"
           : result.consumed ? " acked one by one"
                             : " confirmed")
       << "\n";
  text << "time        " << fixed(result.seconds(), 3) << " s\n";
  text << "rate        " << group_digits(static_cast<std::uint64_t>(result.rate())) << " msg/s ("
       << fixed(result.rate() * static_cast<double>(result.parameters.size_bytes) / kMega, 1) << " MB/s of payload)\n";
  if (result.parameters.topic)
    text << "fan-out     " << group_digits(static_cast<std::uint64_t>(result.deliveries_rate())) << " deliveries/s ("
         << group_digits(result.deliveries()) << ", " << result.parameters.copies() << " a message)\n";
  if (result.consumed) {
    const Latency& latency = result.consumed->latency;
    text << "latency     p50 " << format_us(latency.p50_us) << "  p90 " << format_us(latency.p90_us) << "  p99 "
         << format_us(latency.p99_us) << "  p99.9 " << format_us(latency.p999_us) << "  max "
         << format_us(latency.max_us)
         << (result.parameters.rate > 0 ? "  (from the intended send time)"
                                        : "  (under saturation: mostly time in the queue)")
         << "\n";
    text << "deliveries  " << group_digits(result.consumed->redelivered) << " redelivered, "
         << group_digits(result.consumed->foreign) << " foreign, " << group_digits(result.consumed->left)
         << " left in the queue\n";
    if (result.parameters.verify)
      text << "verify      " << group_digits(result.lost()) << " lost, " << group_digits(result.consumed->doubled)
           << " doubled, " << group_digits(result.consumed->altered) << " altered\n";
  }
  text << "parameters  " << parameters_text(result) << "\n";
  return text.str();
}

}  // namespace sluice::cli
