#include "config/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tfyarn::config {
namespace {

bool IsPlainSafe(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL" ||
      text == "<<")
    return false;
  const auto safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-' || c == '+' || c == '%' || c == '=' || c == '@' ||
           c == ' ' || c == '(' || c == ')' || c == '<' || c == '>' || c == '*';
  };
  if (!std::all_of(text.begin(), text.end(), safe)) return false;
  const char first = text.front();
  // A negative number: in quotes it would be text.
  const bool negative = first == '-' && text.size() > 1 && text[1] >= '0' && text[1] <= '9';
  const bool first_safe = negative || (first >= 'a' && first <= 'z') ||
                          (first >= 'A' && first <= 'Z') || (first >= '0' && first <= '9') ||
                          first == '/' || first == '.' || first == '_';
  return first_safe && text.back() != ' ' && text != "...";
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string Scalar(const Node& node) {
  return !node.quoted && IsPlainSafe(node.text) ? node.text : Quoted(node.text);
}

std::string Key(std::string_view key) {
  return IsPlainSafe(key) ? std::string(key) : Quoted(key);
}

void Block(const Node& node, std::size_t indent, std::string& out);

/// What follows a `key:` or a `-`, with the line's end.
void BlockValue(const Node& value, std::size_t indent, std::string& out) {
  if (value.is_null()) {
    out += " null\n";
  } else if (value.is_scalar()) {
    out += ' ' + Scalar(value) + '\n';
  } else if (value.is_list() && value.items.empty()) {
    out += " []\n";
  } else if (value.is_map() && value.entries.empty()) {
    out += " {}\n";
  } else {
    out += '\n';
    Block(value, indent, out);
  }
}

void Block(const Node& node, std::size_t indent, std::string& out) {
  for (const Entry& entry : node.entries) {
    out.append(indent, ' ');
    out += Key(entry.key) + ':';
    BlockValue(entry.value, indent + 2, out);
  }
  for (const Node& item : node.items) {
    out.append(indent, ' ');
    out += '-';
    const bool nested =
        (item.is_map() && !item.entries.empty()) || (item.is_list() && !item.items.empty());
    if (!nested) {
      BlockValue(item, indent + 2, out);
      continue;
    }
    // The first line of what is nested goes behind the dash.
    std::string inner;
    Block(item, indent + 2, inner);
    out += ' ' + inner.substr(indent + 2);
  }
}

/// Order in a map matters for these: tasks in the order of the file, cells of a matrix.
bool OrderMatters(std::string_view key) {
  return key == "tasks" || key == "matrix";
}

void Inline(const Node& node, bool sorted, bool quote_all, std::string_view key, std::string& out) {
  switch (node.kind) {
    case NodeKind::kNull:
      out += "null";
      return;
    case NodeKind::kScalar:
      out += quote_all ? Quoted(node.text) : Scalar(node);
      return;
    case NodeKind::kList: {
      out += '[';
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0) out += ", ";
        Inline(node.items[i], sorted, quote_all, {}, out);
      }
      out += ']';
      return;
    }
    case NodeKind::kMap: {
      std::vector<const Entry*> entries;
      for (const Entry& entry : node.entries) entries.push_back(&entry);
      if (sorted && !OrderMatters(key)) {
        std::sort(entries.begin(), entries.end(),
                  [](const Entry* a, const Entry* b) { return a->key < b->key; });
      }
      out += '{';
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i > 0) out += ", ";
        out += quote_all ? Quoted(entries[i]->key) : Key(entries[i]->key);
        out += ": ";
        Inline(entries[i]->value, sorted, quote_all, entries[i]->key, out);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace

std::string EmitYaml(const Node& node) {
  std::string out;
  if (node.is_map() || node.is_list()) {
    Block(node, 0, out);
  } else {
    out = node.is_null() ? "null\n" : Scalar(node) + '\n';
  }
  return out;
}

std::string EmitInline(const Node& node) {
  std::string out;
  Inline(node, false, false, {}, out);
  return out;
}

std::string EmitCanonical(const Node& node) {
  std::string out;
  Inline(node, true, true, {}, out);
  return out;
}

}  // namespace tfyarn::config
