#include "config/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "config/diagnostics.h"

namespace tfyarn::config {
namespace {

constexpr std::size_t kNear = 2;
constexpr std::size_t kNamesShown = 24;
// A name this long is no slip of the keys; the limit also bounds the work.
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kNamesCompared = 2000;

std::string Fold(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c == '-' ? '_' : c;
    }
  }
  return out;
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t longer = std::max(a.size(), b.size());
  if (longer - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t same = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + same});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return std::min(last[b.size()], limit + 1);
}

std::string Nearest(std::string_view name, const std::vector<std::string>& names) {
  if (name.size() > kLongestName) return {};
  const std::string folded = Fold(name);
  std::string best;
  std::size_t best_distance = kNear + 1;
  std::size_t compared = 0;
  for (const std::string& candidate : names) {
    if (++compared > kNamesCompared) break;
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance = EditDistance(folded, Fold(candidate), kNear);
    // Of a name of two letters nothing is left after two edits.
    if (distance >= std::min(folded.size(), candidate.size())) continue;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::vector<std::string> NotesForNames(std::string_view given,
                                       const std::vector<std::string>& names) {
  std::vector<std::string> notes;
  if (names.empty()) return notes;
  std::string allowed = "allowed: ";
  for (std::size_t i = 0; i < names.size() && i < kNamesShown; ++i) {
    if (i > 0) allowed += ", ";
    allowed += Printable(names[i]);
  }
  if (names.size() > kNamesShown)
    allowed += fmt::format(", and {} more", names.size() - kNamesShown);
  notes.push_back(std::move(allowed));
  const std::string nearest = Nearest(given, names);
  if (!nearest.empty()) notes.push_back(fmt::format("did you mean `{}`?", Printable(nearest)));
  return notes;
}

}  // namespace tfyarn::config
