#include "apps/cli/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <stdexcept>

#include "config/diagnostics.h"

namespace tfyarn::cli {
namespace {

constexpr std::size_t kRecordsBefore = 3;
constexpr std::size_t kShownValue = 200;

/// Ends the reading of a document from inside nlohmann-json's callback.
struct TooDeep : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Line and column of a byte, counted from 1.
std::string PlaceIn(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const std::size_t newline = before.rfind('\n');
  return fmt::format(
      "line {}, column {}", 1 + std::count(before.begin(), before.end(), '\n'),
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline);
}

bool RefuseDepth(int depth, Document::parse_event_t event, Document& /*value*/) {
  const bool opens = event == Document::parse_event_t::object_start ||
                     event == Document::parse_event_t::array_start;
  if (opens && static_cast<std::size_t>(depth) >= kDeepestDocument)
    throw TooDeep(fmt::format("nests deeper than {} levels", kDeepestDocument));
  return true;
}

/// Differences that are no difference of the runs.
bool IsAboutThisMachine(std::string_view path) {
  return path == "/wall_seconds" || path == "/peak_rss_bytes";
}

/// nullptr: the document has nothing there.
std::string ValueText(const Document* value) {
  return value == nullptr ? "(absent)" : config::Printable(value->dump(), kShownValue);
}

const Document* MemberOf(const Document& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

const Document* ElementOf(const Document& array, std::size_t index) {
  return index < array.size() ? &array[index] : nullptr;
}

void Collect(const Document* left, const Document* right, const std::string& path,
             std::vector<std::string>& out) {
  if (IsAboutThisMachine(path)) return;
  if (left != nullptr && right != nullptr) {
    if (*left == *right) return;
    if (left->is_object() && right->is_object()) {
      for (const auto& [key, value] : left->items()) {
        Collect(&value, MemberOf(*right, key), path + "/" + key, out);
      }
      for (const auto& [key, value] : right->items()) {
        if (!left->contains(key)) Collect(nullptr, &value, path + "/" + key, out);
      }
      return;
    }
    if (left->is_array() && right->is_array()) {
      for (std::size_t i = 0; i < std::max(left->size(), right->size()); ++i) {
        Collect(ElementOf(*left, i), ElementOf(*right, i), fmt::format("{}/{}", path, i), out);
      }
      return;
    }
  }
  out.push_back(fmt::format("{}: {} | {}", config::Printable(path, kShownValue), ValueText(left),
                            ValueText(right)));
}

}  // namespace

Expected<Document> ReadDocument(std::string_view text) {
  try {
    return Document::parse(text, RefuseDepth);
  } catch (const Document::parse_error& error) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("not JSON: {}", PlaceIn(text, error.byte)));
  } catch (const Document::out_of_range&) {
    return Fail(ErrorCode::kInvalidArgument, "holds a number that is out of range");
  } catch (const TooDeep& error) {
    return Fail(ErrorCode::kInvalidArgument, error.what());
  }
}

Expected<RecordedRun> ReadRecordedRun(std::string_view text) {
  const auto no_result = [](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("no result document of one run: {}", why));
  };
  const Expected<Document> document = ReadDocument(text);
  if (!document) return no_result(document.error().message);
  if (!document->is_object()) return no_result("not an object");
  RecordedRun run;
  for (const auto& [name, member] :
       {std::pair("digest", &run.digest), std::pair("scenario_digest", &run.scenario_digest)}) {
    const Document* value = MemberOf(*document, name);
    if (value == nullptr) return no_result(fmt::format("`{}` is missing", name));
    if (!value->is_string()) return no_result(fmt::format("`{}` is no text", name));
    *member = value->get<std::string>();
  }
  const Document* seed = MemberOf(*document, "seed");
  if (seed == nullptr || !seed->is_number_unsigned())
    return no_result("`seed` is missing, or no whole number");
  run.seed = seed->get<std::uint64_t>();
  return run;
}

std::vector<std::string> DifferencesOf(const Document& left, const Document& right) {
  std::vector<std::string> differences;
  Collect(&left, &right, "", differences);
  return differences;
}

LineComparison CompareLines(std::istream& left, std::istream& right) {
  LineComparison result;
  std::string left_line, right_line;
  while (true) {
    const bool more_left = static_cast<bool>(std::getline(left, left_line));
    const bool more_right = static_cast<bool>(std::getline(right, right_line));
    if (!more_left && !more_right) return result;
    if (more_left && more_right && left_line == right_line) {
      ++result.same;
      result.before.push_back(left_line);
      if (result.before.size() > kRecordsBefore) result.before.erase(result.before.begin());
      continue;
    }
    if (more_left) result.left = left_line;
    if (more_right) result.right = right_line;
    return result;
  }
}

}  // namespace tfyarn::cli
