#include "cli/output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/failure.h"

namespace sluice::cli {

std::string json_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

void Output::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write(text);
  write("\n");
}

void Output::bytes(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  write(bytes);
}

void Output::flush() {
  const std::lock_guard lock(mutex_);
  if (std::fflush(file_) != 0) refuse();
}

std::string Output::heading(std::string_view text) const {
  return style_.color ? "\033[1m" + std::string(text) + "\033[0m" : std::string(text);
}

void Output::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) refuse();
}

void Output::refuse() {
  const int error = errno;
  throw input_output_failure(error == EPIPE ? std::string("stdout was closed by its reader")
                                            : "cannot write to stdout: " + std::string(std::strerror(error)));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::size_t width = columns_[column].heading.size();
    for (const auto& row : rows_) width = std::max(width, row[column].size());
    widths.push_back(width);
  }
  return widths;
}

void Table::print(Output& out) const {
  if (!out.terminal()) {
    for (const auto& row : rows_) {
      std::string text;
      for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : "\t") + row[i];
      out.line(text);
    }
    return;
  }
  const std::vector<std::size_t> width = widths();
  const auto padded = [&](std::size_t column, const std::string& cell) {
    const std::string room(width[column] - cell.size(), ' ');
    if (columns_[column].right) return room + cell;
    return column + 1 == columns_.size() ? cell : cell + room;
  };
  const auto joined = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) text += (i == 0 ? "" : "  ") + padded(i, cell_of(i));
    return text;
  };
  out.line(out.heading(joined([&](std::size_t i) { return columns_[i].heading; })));
  for (const auto& row : rows_) out.line(joined([&](std::size_t i) { return row[i]; }));
}

}  // namespace sluice::cli
