#include "config/hadoop_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <string_view>
#include <utility>

#include "config/hadoop_values.h"

namespace tfyarn::config {
namespace {

constexpr unsigned kParseOptions =
    pugi::parse_default | pugi::parse_ws_pcdata_single | pugi::parse_doctype;

std::string_view LocalName(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const auto colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

/// All text of an element, comments left out.
std::string TextOf(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xml_node& part : node.children()) {
    if (part.type() == pugi::node_pcdata || part.type() == pugi::node_cdata) text += part.value();
  }
  return text;
}

std::string DirectoryOf(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

/// One file while it is read.
class HadoopXmlReader::Document {
 public:
  Document(HadoopXmlReader& reader, std::string path, std::uint32_t file)
      : reader_(reader), path_(std::move(path)), file_(file) {}

  void Read() {
    const std::string& text = reader_.sources_.text(file_);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_ends_.push_back(i);
    }
    pugi::xml_document document;
    const auto result = document.load_buffer(text.data(), text.size(), kParseOptions);
    if (!result) {
      return Complain(At(result.offset),
                      fmt::format("this is no XML: {}", std::string_view(result.description())));
    }
    Walk(document, 0);
  }

 private:
  void Walk(const pugi::xml_node& parent, std::size_t level) {
    for (const pugi::xml_node& node : parent.children()) {
      if (node.type() == pugi::node_doctype &&
          std::string_view(node.value()).find("<!ENTITY") != std::string_view::npos) {
        Complain(At(node.offset_debug()), "entities are not read",
                 {"write their text where they are used, or include files with <xi:include>"});
      }
      if (node.type() != pugi::node_element) continue;
      if (level >= kDeepest) {
        return Complain(At(node.offset_debug()),
                        fmt::format("elements may stand {} deep in one another", kDeepest));
      }
      const std::string_view name = LocalName(node);
      if (name == "property") {
        Property(node);
      } else if (name == "include") {
        Include(node, level);
      } else {
        Walk(node, level + 1);
      }
    }
  }

  void Property(const pugi::xml_node& node) {
    HadoopProperty property{.place = At(node.offset_debug())};
    if (const auto given = node.attribute("name")) property.name = given.value();
    if (const auto given = node.attribute("value")) property.value = given.value();
    property.is_final = std::string_view(node.attribute("final").value()) == "true";
    for (const pugi::xml_node& part : node.children()) {
      const std::string_view kind = LocalName(part);
      if (kind == "name") {
        if (std::string text = TextOf(part); !text.empty()) property.name = TrimBlanks(text);
      } else if (kind == "value") {
        property.place = At((part.first_child() ? part.first_child() : part).offset_debug());
        if (std::string text = TextOf(part); !text.empty()) property.value = std::move(text);
      } else if (kind == "final") {
        property.is_final = TextOf(part) == "true";
      }
    }
    if (property.name.empty()) return;
    if (reader_.properties_.size() >= kMostProperties) {
      if (std::exchange(too_many_, true)) return;
      return Complain(property.place, fmt::format("more than {} properties", kMostProperties));
    }
    reader_.properties_.push_back(std::move(property));
  }

  void Include(const pugi::xml_node& node, std::size_t level) {
    const std::string href = node.attribute("href").value();
    if (href.empty()) return;
    const Place place = At(node.offset_debug());
    std::string plain = href;
    if (plain.starts_with("file:")) {
      plain.erase(0, 5);
      if (plain.starts_with("//")) plain.erase(0, 2);
    } else if (plain.find("://") != std::string::npos) {
      return Complain(place, fmt::format("'{}' is not read", Printable(href)),
                      {"allowed: files of this machine"});
    }
    std::vector<std::string> paths = {plain};
    if (!plain.starts_with('/')) {
      paths = {reader_.directory_ + "/" + plain, DirectoryOf(path_) + "/" + plain};
    }
    for (const std::string& path : paths) {
      const auto& chain = reader_.chain_;
      if (std::find(chain.begin(), chain.end(), path) != chain.end()) {
        return Complain(place, fmt::format("'{}' includes itself", Printable(path)));
      }
      if (chain.size() == kDeepest) {
        return Complain(place, fmt::format("files may include one another {} deep", kDeepest));
      }
      if (reader_.Read(path)) return;
    }
    bool fallback = false;
    for (const pugi::xml_node& part : node.children()) {
      if (LocalName(part) != "fallback") continue;
      fallback = true;
      Walk(part, level + 1);
    }
    if (!fallback) {
      Complain(place, fmt::format("there is no file '{}' to include", Printable(href)),
               {"an <xi:fallback/> inside would say that it may be missing"});
    }
  }

  /// A byte of the text; pugixml knows none where it had to convert the text first.
  [[nodiscard]] Place At(std::ptrdiff_t offset) const {
    if (offset < 0) return {.file = file_};
    const auto at = static_cast<std::size_t>(offset);
    const auto line = std::lower_bound(line_ends_.begin(), line_ends_.end(), at);
    const std::size_t begin = line == line_ends_.begin() ? 0 : *(line - 1) + 1;
    return {.file = file_,
            .line = static_cast<std::uint32_t>(line - line_ends_.begin()) + 1,
            .col = static_cast<std::uint32_t>(at - begin) + 1};
  }

  void Complain(Place place, std::string message, std::vector<std::string> notes = {}) {
    reader_.findings_.push_back(
        {.place = place, .message = std::move(message), .notes = std::move(notes)});
  }

  HadoopXmlReader& reader_;
  std::string path_;
  std::uint32_t file_;
  std::vector<std::size_t> line_ends_;
  bool too_many_ = false;
};

bool HadoopXmlReader::Read(const std::string& path) {
  Finding wrong;
  auto opened = open_(path);
  if (!opened && opened.error().code == ErrorCode::kNotFound) return false;
  std::string text;
  if (sources_.size() > kMostFiles) return true;
  if (sources_.size() == kMostFiles) {
    wrong.message = fmt::format("more than {} files include one another", kMostFiles);
  } else if (!opened) {
    wrong.message = opened.error().message;
  } else if (auto read = ReadAll(**opened, kMostBytes)) {
    text = std::move(*read);
  } else {
    wrong.message = read.error().message;
  }
  const std::uint32_t file = sources_.Add(path, std::move(text));
  if (!wrong.message.empty()) {
    wrong.place.file = file;
    findings_.push_back(std::move(wrong));
  } else {
    chain_.push_back(path);
    Document(*this, path, file).Read();
    chain_.pop_back();
  }
  return true;
}

}  // namespace tfyarn::config
