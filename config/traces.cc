#include "config/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>

#include "config/csv.h"
#include "config/diagnostics.h"
#include "config/quantity.h"

namespace tfyarn::config {
namespace {

constexpr std::size_t kMaxRows = 10'000'000;
constexpr std::int64_t kMaxGpus = 1'000'000;
constexpr double kLongestSeconds = 100.0 * 365 * 86'400;

/// Seconds since 1970, as if all clocks were UTC: only differences are used.
using Stamp = std::int64_t;

/// Reads digits up to something else, at least one; moves `text` behind them.
std::optional<int> TakeInt(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text[0] == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Stamp> StampOf(int year, int month, int day, int hour, int minute, int second) {
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok() || year < 1970 || year > 2100 || hour > 23 || minute > 59 || second > 60)
    return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<Stamp>(days) * 86'400 + hour * 3600 + minute * 60 + second;
}

/// yyyy-mm-dd hh:mm:ss, or with a T.
std::optional<Stamp> ParseIsoTime(std::string_view text) {
  const auto year = TakeInt(text);
  if (!year || !TakeChar(text, '-')) return std::nullopt;
  const auto month = TakeInt(text);
  if (!month || !TakeChar(text, '-')) return std::nullopt;
  const auto day = TakeInt(text);
  if (!day || !(TakeChar(text, ' ') || TakeChar(text, 'T'))) return std::nullopt;
  const auto hour = TakeInt(text);
  if (!hour || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeInt(text);
  if (!minute || !TakeChar(text, ':')) return std::nullopt;
  const auto second = TakeInt(text);
  if (!second || !text.empty()) return std::nullopt;
  return StampOf(*year, *month, *day, *hour, *minute, *second);
}

/// m/d/yyyy h:mm.
std::optional<Stamp> ParseUsTime(std::string_view text) {
  const auto month = TakeInt(text);
  if (!month || !TakeChar(text, '/')) return std::nullopt;
  const auto day = TakeInt(text);
  if (!day || !TakeChar(text, '/')) return std::nullopt;
  const auto year = TakeInt(text);
  if (!year || !TakeChar(text, ' ')) return std::nullopt;
  const auto hour = TakeInt(text);
  if (!hour || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeInt(text);
  if (!minute || !text.empty()) return std::nullopt;
  return StampOf(*year, *month, *day, *hour, *minute, 0);
}

Expected<CsvReader> OpenCsv(const std::string& path, const OpenFile& open) {
  auto source = OpenTrace(path, open);
  if (!source)
    return Fail(source.error().code, fmt::format("{}: {}", path, source.error().message));
  return CsvReader::Open(path, std::move(*source));
}

struct TimedJob {
  Stamp at = 0;
  PhillyJob job;
};

Expected<TimedJob> PhillyRow(const CsvReader& csv, const std::vector<std::size_t>& columns) {
  const std::string_view timestamp = csv.cell(columns[0]);
  const auto at = ParseIsoTime(timestamp);
  if (!at)
    return csv.Bad(
        fmt::format("timestamp `{}` is not like 2017-10-09 07:01:55", Printable(timestamp)));
  const auto duration = ParseNumber(csv.cell(columns[1]));
  if (!duration || *duration < 0 || *duration > kLongestSeconds) {
    return csv.Bad(
        fmt::format("duration `{}` is not a number of seconds", Printable(csv.cell(columns[1]))));
  }
  const auto gpus = ParseWhole(csv.cell(columns[2]));
  if (!gpus || *gpus < 1 || *gpus > kMaxGpus) {
    return csv.Bad(
        fmt::format("num_gpus `{}` is not a number from 1", Printable(csv.cell(columns[2]))));
  }
  return TimedJob{.at = *at,
                  .job = {.duration_seconds = *duration,
                          .gpus = static_cast<std::int32_t>(*gpus),
                          .cluster = std::string(csv.cell(columns[3]))}};
}

struct TimedOutage {
  Stamp from = 0;
  Stamp to = 0;
  std::int64_t node = 0;
};

Expected<TimedOutage> LanlRow(const CsvReader& csv, const std::vector<std::size_t>& columns) {
  const auto node = ParseWhole(csv.cell(columns[1]));
  if (!node || *node < 0) {
    return csv.Bad(
        fmt::format("nodenumz `{}` is not a number from 0", Printable(csv.cell(columns[1]))));
  }
  const auto from = ParseUsTime(csv.cell(columns[2]));
  if (!from) {
    return csv.Bad(fmt::format("Prob Started `{}` is not like 6/21/2005 10:54",
                               Printable(csv.cell(columns[2]))));
  }
  const std::string_view fixed = csv.cell(columns[3]);
  std::optional<Stamp> to = ParseUsTime(fixed);
  if (!to && fixed.empty()) {
    // Without the end the length of the outage, in minutes, tells.
    const auto minutes = ParseNumber(csv.cell(columns[4]));
    if (minutes && *minutes >= 0 && *minutes < kLongestSeconds / 60) {
      to = *from + static_cast<Stamp>(*minutes * 60);
    }
  }
  if (!to)
    return csv.Bad(fmt::format("Prob Fixed `{}` is not like 6/21/2005 10:54", Printable(fixed)));
  if (*to < *from)
    return csv.Bad(fmt::format("is fixed before it started: {}, {}", csv.cell(columns[2]), fixed));
  return TimedOutage{.from = *from, .to = *to, .node = *node};
}

Duration SecondsFrom(Stamp origin, Stamp at) {
  return std::chrono::seconds(at - origin);
}

}  // namespace

Expected<std::unique_ptr<ByteSource>> OpenTrace(const std::string& path, const OpenFile& open) {
  auto source = open(path);
  if (!source || !path.ends_with(".xz")) return source;
  return DecompressXz(std::move(*source));
}

Expected<std::vector<PhillyJob>> ReadPhilly(const std::string& path, std::int64_t limit,
                                            const OpenFile& open) {
  auto csv = OpenCsv(path, open);
  if (!csv) return tl::unexpected(csv.error());
  const auto columns = csv->Columns({"timestamp", "duration", "num_gpus", "cluster"});
  if (!columns) return tl::unexpected(columns.error());
  std::vector<TimedJob> rows;
  while (true) {
    const auto more = csv->Next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    auto row = PhillyRow(*csv, *columns);
    if (!row) return tl::unexpected(row.error());
    if (rows.size() == kMaxRows) return csv->Bad(fmt::format("more than {} rows", kMaxRows));
    rows.push_back(std::move(*row));
  }
  if (rows.empty()) return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: has no rows", path));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TimedJob& a, const TimedJob& b) { return a.at < b.at; });
  if (limit > 0 && rows.size() > static_cast<std::size_t>(limit))
    rows.resize(static_cast<std::size_t>(limit));
  std::vector<PhillyJob> jobs;
  jobs.reserve(rows.size());
  for (TimedJob& row : rows) {
    row.job.submit = SecondsFrom(rows.front().at, row.at);
    jobs.push_back(std::move(row.job));
  }
  return jobs;
}

Expected<std::vector<NodeOutage>> ReadLanl(const std::string& path, std::int32_t system,
                                           const OpenFile& open) {
  auto csv = OpenCsv(path, open);
  if (!csv) return tl::unexpected(csv.error());
  const auto columns =
      csv->Columns({"System", "nodenumz", "Prob Started", "Prob Fixed", "Down Time"});
  if (!columns) return tl::unexpected(columns.error());
  std::vector<TimedOutage> rows;
  std::map<std::int64_t, std::int64_t> systems;
  while (true) {
    const auto more = csv->Next();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    const auto of = ParseWhole(csv->cell((*columns)[0]));
    if (!of)
      return csv->Bad(
          fmt::format("System `{}` is not a number", Printable(csv->cell((*columns)[0]))));
    ++systems[*of];
    if (*of != system) continue;
    const auto row = LanlRow(*csv, *columns);
    if (!row) return tl::unexpected(row.error());
    if (rows.size() == kMaxRows) return csv->Bad(fmt::format("more than {} rows", kMaxRows));
    rows.push_back(*row);
  }
  if (rows.empty()) {
    std::string all;
    for (const auto& [number, count] : systems)
      all += (all.empty() ? "" : ", ") + std::to_string(number);
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: has no failures of system {}; it has systems {}", path, system,
                            Printable(all, 200)));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const TimedOutage& a, const TimedOutage& b) {
    return std::tie(a.from, a.node) < std::tie(b.from, b.node);
  });
  std::vector<NodeOutage> outages;
  outages.reserve(rows.size());
  for (const TimedOutage& row : rows) {
    outages.push_back({.node = row.node,
                       .start = SecondsFrom(rows.front().from, row.from),
                       .end = SecondsFrom(rows.front().from, row.to)});
  }
  return outages;
}

std::vector<NodeOutage> FoldOutages(const std::vector<NodeOutage>& outages,
                                    std::int64_t node_count) {
  if (node_count <= 0) return {};
  std::vector<NodeOutage> folded = outages;
  for (NodeOutage& outage : folded) outage.node %= node_count;
  std::stable_sort(folded.begin(), folded.end(), [](const NodeOutage& a, const NodeOutage& b) {
    return std::tie(a.node, a.start) < std::tie(b.node, b.start);
  });
  std::vector<NodeOutage> merged;
  for (const NodeOutage& outage : folded) {
    if (outage.start == outage.end) continue;  // nothing was down
    if (!merged.empty() && merged.back().node == outage.node && outage.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, outage.end);
    } else {
      merged.push_back(outage);
    }
  }
  std::stable_sort(merged.begin(), merged.end(), [](const NodeOutage& a, const NodeOutage& b) {
    return std::tie(a.start, a.node) < std::tie(b.start, b.node);
  });
  return merged;
}

}  // namespace tfyarn::config
