#include "config/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "core/model/check.h"

namespace tfyarn::config {
namespace {

/// Ends the reading of one file: thrown through yaml-cpp, caught in this file.
struct Stop {
  Finding finding;
};

constexpr std::size_t kMaxAnchoredNodes = 4 * kMaxNodes;

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, std::uint32_t file, std::vector<Finding>& findings)
      : text_(text), file_(file), findings_(findings) {
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_starts_.push_back(i + 1);
    }
  }

  [[nodiscard]] Node&& TakeRoot() { return std::move(root_); }
  [[nodiscard]] bool has_root() const { return has_root_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      Fail(At(mark), 3, "a second document begins here",
           {"a file holds one document: remove `---`"});
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node{.kind = NodeKind::kNull, .place = At(mark)};
    // yaml-cpp gives the place of what follows; the key is where the reader looks.
    if (!stack_.empty() && stack_.back().node.is_map() && !stack_.back().expects_key) {
      node.place = stack_.back().key_place;
    }
    node.end = node.place;
    Add(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckTag(mark, tag);
    Node node{.kind = NodeKind::kScalar, .quoted = tag == "!", .place = At(mark), .text = value};
    node.end = EndOfScalar(node);
    Add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Place place = At(mark);
    if (++aliases_ > kMaxAliases) Fail(place, 1, fmt::format("more than {} aliases", kMaxAliases));
    for (const Frame& frame : stack_) {
      if (frame.anchor == anchor) Fail(place, 1, "this alias stands inside what it stands for");
    }
    const auto found = anchors_.find(anchor);
    TF_CHECK(found != anchors_.end());
    CountNew(place, found->second.size - 1);
    Add(found->second.node, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, NodeKind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, NodeKind::kMap);
  }
  void OnMapEnd() override {
    ReportRepeatedKeys(stack_.back().node);
    Close();
  }

  [[nodiscard]] Place At(const YAML::Mark& mark) const {
    return {.file = file_,
            .line = static_cast<std::uint32_t>(std::max(mark.line, 0) + 1),
            .col = static_cast<std::uint32_t>(std::max(mark.column, 0) + 1)};
  }

 private:
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    bool expects_key = true;  // kMap
    std::string key;
    Place key_place;
  };
  struct Anchored {
    Node node;
    std::size_t size = 0;
  };

  [[noreturn]] void Fail(Place place, std::size_t width, std::string message,
                         std::vector<std::string> notes = {}) {
    throw Stop{{.place = place,
                .width = static_cast<std::uint32_t>(width),
                .message = std::move(message),
                .notes = std::move(notes)}};
  }

  void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str") return;
    findings_.push_back({.place = At(mark),
                         .message = fmt::format("the tag `{}` has no meaning here", Printable(tag)),
                         .notes = {"remove it"}});
  }

  void CountNew(Place place, std::size_t more) {
    nodes_ += more;
    if (nodes_ > kMaxNodes)
      Fail(place, 1, fmt::format("more than {} values, aliases expanded", kMaxNodes));
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, NodeKind kind) {
    CheckTag(mark, tag);
    const Place place = At(mark);
    if (stack_.size() == kMaxDepth) Fail(place, 1, fmt::format("nested deeper than {}", kMaxDepth));
    if (!stack_.empty() && stack_.back().node.is_map() && stack_.back().expects_key) {
      if (!IsClosed(Offset(place))) Fail(place, 1, "this bracket is not closed");
      Fail(place, 1, "a key must be plain text", {"quote it if it begins with [ or {"});
    }
    stack_.push_back({.node = {.kind = kind, .place = place, .end = place}, .anchor = anchor});
  }

  void Close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    Add(std::move(frame.node), frame.anchor);
  }

  void Add(Node node, YAML::anchor_t anchor) {
    CountNew(node.place, 1);
    if (anchor != 0) {
      const std::size_t size = CountNodes(node);
      anchored_nodes_ += size;
      if (anchored_nodes_ > kMaxAnchoredNodes)
        Fail(node.place, 1, "too much is anchored inside other anchors");
      anchors_[anchor] = {.node = node, .size = size};
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      has_root_ = true;
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.is_list()) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.expects_key) {
      TakeKey(frame, node);
    } else {
      frame.node.entries.push_back(
          {.key = std::move(frame.key), .key_place = frame.key_place, .value = std::move(node)});
      frame.expects_key = true;
    }
  }

  void TakeKey(Frame& frame, const Node& key) {
    if (!key.is_scalar()) Fail(key.place, 1, "a key must be plain text");
    if (key.text == "<<" && !key.quoted) {
      Fail(key.place, 2, "merge keys are not supported",
           {"use `defaults:` for what jobs share, `include:` for what files share"});
    }
    frame.key = key.text;
    frame.key_place = key.place;
    frame.expects_key = false;
  }

  void ReportRepeatedKeys(Node& map) {
    std::vector<std::size_t> order(map.entries.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return map.entries[a].key < map.entries[b].key;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const Entry& first = map.entries[order[i - 1]];
      const Entry& second = map.entries[order[i]];
      if (first.key != second.key) continue;
      findings_.push_back(
          {.place = second.key_place,
           .width = static_cast<std::uint32_t>(second.key.size()),
           .message = fmt::format("the key `{}` is here twice", Printable(second.key)),
           .notes = {fmt::format("it is first on line {}", first.key_place.line)}});
    }
  }

  [[nodiscard]] std::size_t Offset(Place place) const {
    if (place.line > line_starts_.size()) return text_.size();
    return std::min(text_.size(), line_starts_[place.line - 1] + place.col - 1);
  }

  [[nodiscard]] Place PlaceOf(std::size_t offset) const {
    const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    const auto line = static_cast<std::size_t>(next - line_starts_.begin());
    return {.file = file_,
            .line = static_cast<std::uint32_t>(line),
            .col = static_cast<std::uint32_t>(offset - line_starts_[line - 1] + 1)};
  }

  /// Whether the bracket at `begin`, if it is one, has its other half. Brackets in quotes do not
  /// count.
  [[nodiscard]] bool IsClosed(std::size_t begin) const {
    std::size_t depth = 0;
    char quote = '\0';
    for (std::size_t at = begin; at < text_.size(); ++at) {
      const char c = text_[at];
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[' || c == '{') {
        ++depth;
      } else if ((c == ']' || c == '}') && --depth == 0) {
        return true;
      }
      if (depth == 0) return true;
    }
    return false;
  }

  /// Behind anchors and tags.
  [[nodiscard]] std::size_t SkipProperties(std::size_t at) const {
    while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
      while (at < text_.size() && static_cast<unsigned char>(text_[at]) > ' ') ++at;
      while (at < text_.size() && static_cast<unsigned char>(text_[at]) <= ' ') ++at;
    }
    return at;
  }

  /// yaml-cpp takes the end of the file for a missing closing quote, so it is looked for here.
  [[nodiscard]] Place EndOfScalar(const Node& node) {
    const std::size_t begin = SkipProperties(Offset(node.place));
    if (!node.quoted) {
      const bool as_written = text_.compare(begin, node.text.size(), node.text) == 0;
      return as_written ? PlaceOf(begin + node.text.size()) : node.place;
    }
    if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\'')) return node.place;
    const char quote = text_[begin];
    for (std::size_t at = begin + 1; at < text_.size(); ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        const bool doubled = quote == '\'' && at + 1 < text_.size() && text_[at + 1] == quote;
        if (!doubled) return PlaceOf(at + 1);
        ++at;
      }
    }
    Fail(node.place, 1, "the closing quote of this text is missing");
  }

  std::string_view text_;
  std::uint32_t file_;
  std::vector<Finding>& findings_;
  std::vector<std::size_t> line_starts_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0;
  std::size_t anchored_nodes_ = 0;
  std::size_t aliases_ = 0;
  std::size_t documents_ = 0;
  Node root_;
  bool has_root_ = false;
};

std::size_t FindBinary(std::string_view text) {
  const std::size_t invalid = FindInvalidUtf8(text);
  for (std::size_t i = 0; i < text.size() && i < invalid; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) return i;
  }
  return invalid;
}

Place PlaceIn(std::string_view text, std::uint32_t file, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  return {.file = file,
          .line = static_cast<std::uint32_t>(1 + std::count(before.begin(), before.end(), '\n')),
          .col = static_cast<std::uint32_t>(newline == std::string_view::npos ? offset + 1
                                                                              : offset - newline)};
}

/// Where the innermost bracket stands that is open in front of `end`; npos: none is. Only brackets
/// where a value begins, or inside of others, are brackets; those in quotes and comments are not.
std::size_t OpenBracket(std::string_view text, std::size_t end) {
  std::vector<std::size_t> open;
  char quote = '\0';
  char before = '\n';  // The last byte that was no blank.
  for (std::size_t at = 0; at < std::min(end, text.size()); ++at) {
    const char c = text[at];
    const bool begins = before == '\n' || before == ':' || before == ',' || before == '[' ||
                        before == '{' || before == '-';
    if (quote != '\0') {
      if (quote == '"' && c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if (c == '#' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n')) {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    } else if ((c == '"' || c == '\'') && begins) {
      quote = c;
    } else if ((c == '[' || c == '{') && (begins || !open.empty())) {
      open.push_back(at);
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
    if (c != ' ' && c != '\t' && c != '\r') before = c;
  }
  return open.empty() ? std::string_view::npos : open.back();
}

std::size_t OffsetIn(std::string_view text, Place place) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < place.line; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return text.size();
    begin = end + 1;
  }
  return std::min(begin + place.col - 1, text.size());
}

Finding FromParser(const YAML::ParserException& error, std::string_view text,
                   const Sources& sources, Place place) {
  const std::string_view line = sources.Line(place.file, place.line);
  const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t tab = line.substr(0, indent).find('\t');
  if (tab != std::string_view::npos) {
    place.col = static_cast<std::uint32_t>(tab + 1);
    return {.place = place, .message = "a tab cannot indent", .notes = {"use spaces"}};
  }
  if (error.msg == "end of map flow not found" || error.msg == "end of sequence flow not found" ||
      error.msg == "illegal flow end") {
    // What comes behind it is where the parser gave up, which may be the end of the file.
    const std::size_t open = OpenBracket(text, OffsetIn(text, place));
    if (open != std::string_view::npos) {
      return {.place = PlaceIn(text, place.file, open),
              .message = fmt::format("this `{}` is not closed", text[open]),
              .notes = {fmt::format("a comma or the closing bracket is missing before line {}, "
                                    "column {}",
                                    place.line, place.col)}};
    }
  }
  Finding finding{.place = place,
                  .message = fmt::format("not valid YAML: {}", Printable(error.msg, 120))};
  if (error.msg == "illegal map value") {
    finding.notes.push_back(
        "a text with `: ` in it needs quotes; a nested key needs a deeper line of its own");
  } else if (error.msg == "end of map not found" || error.msg == "end of sequence not found") {
    finding.notes.push_back("the line is indented differently from its neighbours");
  } else if (error.msg == "illegal flow end") {
    finding.notes.push_back("no bracket that this one closes is open here");
  } else if (error.msg == "illegal block entry") {
    finding.notes.push_back("each `- ` of a list begins a line of its own");
  } else if (error.msg == "unknown token") {
    finding.notes.push_back("a text that begins with this needs quotes");
  } else if (place.line > 1 &&
             place.line > static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'))) {
    finding.notes.push_back("the file ends too early");
  }
  return finding;
}

std::optional<Node> Read(const Sources& sources, std::uint32_t file, const std::string& text,
                         std::vector<Finding>& findings) {
  if (const std::size_t binary = FindBinary(text); binary != std::string::npos) {
    findings.push_back(
        {.place = PlaceIn(text, file, binary),
         .message = "not a text file: there is a byte that is neither UTF-8 nor printable"});
    return std::nullopt;
  }
  TreeBuilder builder(text, file, findings);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    findings.push_back(FromParser(error, text, sources, builder.At(error.mark)));
    return std::nullopt;
  } catch (Stop& stop) {
    findings.push_back(std::move(stop.finding));
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    findings.push_back(
        {.place = {.file = file}, .message = fmt::format("not valid YAML: {}", error.msg)});
    return std::nullopt;
  }
  if (!builder.has_root()) return Node{.place = {.file = file}};
  return builder.TakeRoot();
}

}  // namespace

std::optional<Node> ReadYaml(const Sources& sources, std::uint32_t file,
                             std::vector<Finding>& findings) {
  const std::string& text = sources.text(file);
  if (text.size() > kMaxFileBytes) {
    findings.push_back({.place = {.file = file},
                        .message = fmt::format("the file is larger than {} bytes", kMaxFileBytes)});
    return std::nullopt;
  }
  return Read(sources, file, text, findings);
}

std::optional<Node> ReadYamlValue(const Sources& sources, std::uint32_t file, std::size_t offset,
                                  std::vector<Finding>& findings) {
  // Blanks in place of what stands in front keep every column right.
  std::string text = sources.text(file);
  std::fill_n(text.begin(), static_cast<std::ptrdiff_t>(std::min(offset, text.size())), ' ');
  return Read(sources, file, text, findings);
}

}  // namespace tfyarn::config
