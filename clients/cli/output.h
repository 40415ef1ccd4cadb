#pragma once
// cli/output.h: stdout, which holds data only: text or tables for people, tab-separated lines for pipes, JSON lines for programs.
//
// Threads  object(), line(), bytes() and flush() lock; one call is never mixed with another.
// Errors   Failure input_output when stdout takes nothing more; a message is settled only after flush().

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::cli {

// Keeps the order in which keys were written.
using Json = nlohmann::ordered_json;

// One line, whatever the bytes: text that is not UTF-8 gets replacement characters.
std::string json_line(const Json& value);

class Output {
 public:
  struct Style {
    bool terminal = false;
    bool color = false;
  };

  Output(std::FILE* file, Style style) : file_(file), style_(style) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool terminal() const { return style_.terminal; }

  void object(const Json& value) { line(json_line(value)); }
  void line(std::string_view text);
  void bytes(std::string_view bytes);
  void flush();
  std::string heading(std::string_view text) const;

 private:
  void write(std::string_view bytes);
  [[noreturn]] void refuse();

  std::FILE* file_;
  Style style_;
  std::mutex mutex_;
};

// Rows of cells, which the caller has escaped. On a terminal: aligned, with headings; else tab-separated, without.
class Table {
 public:
  struct Column {
    std::string heading;
    bool right = false;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print(Output& out) const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sluice::cli
