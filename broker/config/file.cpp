#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <variant>

#include <toml++/toml.h>

#include "base/units.h"
#include "config/source.h"

namespace sluice::config {
namespace {

// Far above any real file; keeps a wrong --config (a device, a log) from filling the memory.
constexpr std::size_t kFileBytesMax = 1'048'576;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::variant<std::string, Error> read_all(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  if (file == nullptr) return Error{ErrorCode::bad_field, std::strerror(errno)};
  std::string text(kFileBytesMax + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return Error{ErrorCode::bad_field, std::strerror(errno)};
  if (text.size() > kFileBytesMax) return Error{ErrorCode::bad_field, "larger than " + format_bytes(kFileBytesMax)};
  return text;
}

std::string position(const std::string& path, const toml::source_region& at) {
  return path + ":" + std::to_string(at.begin.line);
}

std::string key_of(const Option& option) {
  return option.scope == Scope::everywhere ? std::string(option.name) : std::string();
}

// A value as the text that set() reads; nullopt if it has no business there.
std::optional<std::string> text_of(const toml::node& node, Kind kind) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  const auto* boolean = node.as_boolean();
  if (boolean != nullptr && (kind == Kind::toggle || kind == Kind::on_off)) return boolean->get() ? "on" : "off";
  return std::nullopt;
}

std::string_view expected_type(Kind kind) {
  switch (kind) {
    case Kind::text:
      return "a string in quotes";
    case Kind::number:
      return "a whole number";
    case Kind::list:
      return "a string in quotes, or an array of them";
    case Kind::on_off:
    case Kind::toggle:
      return "true or false";
  }
  return {};
}

std::optional<std::vector<std::string>> texts_of(const toml::node& node, Kind kind) {
  const toml::array* const array = kind == Kind::list ? node.as_array() : nullptr;
  std::vector<std::string> texts;
  if (array == nullptr) {
    auto text = text_of(node, kind);
    if (!text) return std::nullopt;
    texts.push_back(*std::move(text));
    return texts;
  }
  for (const toml::node& element : *array) {
    if (!element.is_string()) return std::nullopt;
    texts.push_back(element.as_string()->get());
  }
  return texts;
}

void add_value(const toml::key& key, const toml::node& node, const std::string& path, Source& source) {
  const std::string name(key.str());
  const std::string at = position(path, key.source());
  const Option* const option = find_option(name);
  if (option == nullptr) {
    source.errors.push_back(at + ": unknown key '" + name + "'" + suggestion(name, key_of));
    return;
  }
  const std::string where = at + ": " + name;
  if (option->scope != Scope::everywhere) {
    source.errors.push_back(where + ": only as the flag " + option->flag() + ", not in the file");
    return;
  }
  // The rule of a value that is refused anyway would only distract.
  auto texts = option->later.empty() ? texts_of(node, option->kind) : std::vector<std::string>{};
  if (!texts) {
    source.errors.push_back(where + ": " + std::string(expected_type(option->kind)) + ", not " +
                            std::string(toml::impl::node_type_friendly_names[static_cast<std::size_t>(node.type())]));
    return;
  }
  source.given.push_back({option, *std::move(texts), at, where});
}

}  // namespace

Source read_toml(std::string_view text, const std::string& path) {
  Source source;
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    source.errors.push_back(position(path, error.source()) + ": " + std::string(error.description()));
    return source;
  }
  // The table is in order of its keys; people read the file from the top.
  using Entry = std::pair<const toml::key*, const toml::node*>;
  std::vector<Entry> entries;
  for (auto&& [key, node] : parsed.table()) entries.emplace_back(&key, &node);
  std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.first->source().begin.line; });
  for (const auto& [key, node] : entries) add_value(*key, *node, path, source);
  return source;
}

Source read_file(const std::string& path) {
  auto text = read_all(path);
  if (const auto* error = std::get_if<Error>(&text)) return Source{{}, {path + ": cannot be read: " + error->text}};
  return read_toml(std::get<std::string>(text), path);
}

}  // namespace sluice::config
