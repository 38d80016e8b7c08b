#include "config/hadoop_configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "config/hadoop_values.h"
#include "core/model/check.h"

namespace tfyarn::config {
namespace {

struct Layer {
  std::string_view file;
  std::string_view prefix;  ///< Of the keys whose defaults lie right below it.
};
constexpr Layer kLayers[] = {
    {"core-site.xml", ""}, {"hdfs-site.xml", "dfs."}, {"yarn-site.xml", "yarn."}};

/// The name in the first ${name} of `text`; empty when there is none. Hadoop takes no name with a
/// blank or another $ in it.
std::string_view FirstVariable(std::string_view text) {
  std::size_t from = 0;
  while ((from = text.find("${", from)) != std::string_view::npos) {
    const std::size_t begin = from + 2;
    const std::size_t end = text.find_first_of("} $", begin);
    if (end == std::string_view::npos) return {};
    if (text[end] == '}' && end > begin) return text.substr(begin, end - begin);
    from = text[end] == '$' ? end : end + 1;
  }
  return {};
}

}  // namespace

tl::expected<HadoopConfiguration, Diagnostics> HadoopConfiguration::Load(
    const std::string& directory, HadoopSurroundings surroundings) {
  HadoopConfiguration configuration(std::move(surroundings));
  configuration.sources_.Add(directory, "");
  std::vector<Finding> findings;
  bool any = false;
  for (const auto& [file, prefix] : kLayers) {
    configuration.ApplyDefaults(prefix);
    HadoopXmlReader reader(configuration.sources_, configuration.surroundings_.open, directory,
                           findings);
    any = reader.Read(fmt::format("{}/{}", directory, file)) || any;
    configuration.Apply(reader.Take());
  }
  if (!any) {
    Finding nothing{.message = "this is no configuration of Hadoop"};
    nothing.notes = {"expected: at least one of core-site.xml, hdfs-site.xml, yarn-site.xml"};
    findings.push_back(std::move(nothing));
  }
  if (!findings.empty()) return tl::unexpected(configuration.sources_.Finish(std::move(findings)));
  return configuration;
}

void HadoopConfiguration::ApplyDefaults(std::string_view prefix) {
  std::erase_if(entries_, [&](const auto& item) {
    const HadoopKey* known = FindHadoopKey(item.first);
    return known != nullptr && known->has_default && item.first.starts_with(prefix) &&
           !item.second.is_final;
  });
}

void HadoopConfiguration::Apply(std::vector<HadoopProperty> properties) {
  for (HadoopProperty& property : properties) {
    std::string key(CurrentHadoopName(property.name));
    bool& held = final_[key];
    if (property.value && !held) {
      entries_.insert_or_assign(
          key, Entry{std::move(*property.value), property.place, property.is_final});
    }
    held = held || property.is_final;
  }
}

std::optional<HadoopConfiguration::Entry> HadoopConfiguration::Raw(std::string_view key) const {
  key = CurrentHadoopName(key);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  const HadoopKey* known = FindHadoopKey(key);
  if (known == nullptr || !known->has_default) return std::nullopt;
  return Entry{.value = std::string(known->fallback)};
}

/// ${env.NAME}, ${env.NAME:-used when unset or empty}, ${env.NAME-used when unset}.
std::optional<std::string> HadoopConfiguration::Variable(std::string_view name) const {
  if (name.starts_with("env.") && name.size() > 4) {
    name.remove_prefix(4);
    const auto dash = name.find('-');
    if (dash == std::string_view::npos) return surroundings_.variable(std::string(name));
    const bool colon = dash > 0 && name[dash - 1] == ':';
    auto value = surroundings_.variable(std::string(name.substr(0, dash - (colon ? 1 : 0))));
    if (!value || (colon && value->empty())) value = std::string(name.substr(dash + 1));
    return value;
  }
  // Of Java's own properties those that configurations use.
  if (name == "user.name") return surroundings_.user;
  if (name == "user.home") return surroundings_.variable("HOME");
  if (name == "java.io.tmpdir") return "/tmp";
  return std::nullopt;
}

std::optional<std::string> HadoopConfiguration::Expand(const std::string& text) const {
  std::string expanded = text;
  for (int i = 0; i < kMostSubstitutions; ++i) {
    const std::string_view name = FirstVariable(expanded);
    if (name.empty()) return expanded;
    auto value = Variable(name);
    if (!value) {
      // What is not bound stays as it is written.
      auto entry = Raw(name);
      if (!entry) return expanded;
      value = std::move(entry->value);
    }
    const auto begin = static_cast<std::size_t>(name.data() - expanded.data()) - 2;
    const std::size_t length = name.size() + 3;
    // A value that refers to itself stays as it was in the beginning.
    if (value->find(expanded.substr(begin, length)) != std::string::npos) return text;
    if (expanded.size() + value->size() > kLongestValue) return std::nullopt;
    expanded.replace(begin, length, *value);
  }
  return std::nullopt;
}

HadoopConfiguration::Result<std::optional<HadoopValue>> HadoopConfiguration::Find(
    std::string_view key) const {
  const auto entry = Raw(key);
  if (!entry) return std::nullopt;
  auto expanded = Expand(entry->value);
  if (!expanded) {
    return tl::unexpected(Bad(
        key, "does not end to be expanded",
        {fmt::format("allowed: {} substitutions, {} bytes", kMostSubstitutions - 1, kLongestValue),
         "does it refer to itself by way of others?"}));
  }
  return HadoopValue{std::move(*expanded), entry->place, entry->is_final};
}

HadoopConfiguration::Result<std::string> HadoopConfiguration::Text(std::string_view key) const {
  return Find(key).map([](const auto& value) {
    return value ? std::string(TrimBlanks(value->text)) : std::string();
  });
}

HadoopConfiguration::Result<std::vector<std::string>> HadoopConfiguration::List(
    std::string_view key) const {
  return Text(key).map([](const std::string& text) { return SplitHadoopList(text); });
}

HadoopConfiguration::Result<bool> HadoopConfiguration::Boolean(std::string_view key) const {
  return Choice(key, {"true", "false"}).map([](const std::string& text) { return text == "true"; });
}

HadoopConfiguration::Result<std::int64_t> HadoopConfiguration::Whole(
    std::string_view key, std::optional<std::int64_t> fallback) const {
  const auto text = Text(key);
  if (!text) return tl::unexpected(text.error());
  if (text->empty() && fallback) return *fallback;
  if (const auto value = ParseHadoopWhole(*text)) return *value;
  return tl::unexpected(Bad(key, "is no whole number", {"allowed: 3, -1, 0x10"}));
}

HadoopConfiguration::Result<Duration> HadoopConfiguration::Time(
    std::string_view key, std::optional<Duration> fallback) const {
  const HadoopKey* known = FindHadoopKey(key);
  TF_CHECK(known != nullptr);
  const auto text = Text(key);
  if (!text) return tl::unexpected(text.error());
  if (text->empty() && fallback) return *fallback;
  const bool seconds = known->kind == HadoopKind::kSeconds;
  if (const auto value = ParseHadoopTime(*text, seconds ? Duration(1s) : Duration(1ms))) {
    return *value;
  }
  return tl::unexpected(
      Bad(key, "is no time",
          {fmt::format("allowed: a whole number with ns, us, ms, s, m, h or d; {} without",
                       seconds ? "seconds" : "milliseconds")}));
}

HadoopConfiguration::Result<std::int64_t> HadoopConfiguration::Bytes(std::string_view key) const {
  const auto text = Text(key);
  if (!text) return tl::unexpected(text.error());
  if (const auto value = ParseHadoopBytes(*text)) return *value;
  return tl::unexpected(
      Bad(key, "is no size", {"allowed: a whole number of bytes, or with k, m, g, t, p or e"}));
}

HadoopConfiguration::Result<std::string> HadoopConfiguration::Choice(
    std::string_view key, const std::vector<std::string>& allowed) const {
  const auto text = Text(key);
  if (!text) return tl::unexpected(text.error());
  std::string lower = LowerCase(*text);
  if (std::find(allowed.begin(), allowed.end(), lower) != allowed.end()) return lower;
  return tl::unexpected(
      Bad(key, "is not known here", {fmt::format("allowed: {}", fmt::join(allowed, ", "))}));
}

std::vector<std::string> HadoopConfiguration::SetKeys() const {
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) keys.push_back(key);
  return keys;
}

std::string HadoopConfiguration::OriginOf(const HadoopValue& value) const {
  if (!value.place) return "default";
  const std::string& file = sources_.name(value.place->file);
  return value.place->line == 0 ? file : fmt::format("{}:{}", file, value.place->line);
}

Finding HadoopConfiguration::Bad(std::string_view key, std::string_view problem,
                                 std::vector<std::string> notes) const {
  Finding finding{.notes = std::move(notes)};
  const auto entry = Raw(key);
  std::string text = entry ? entry->value : "";
  if (entry) {
    if (auto expanded = Expand(text)) text = std::move(*expanded);
  }
  finding.message = fmt::format("'{}' of {} {}", Printable(text), Printable(key), problem);
  if (entry && entry->place) finding.place = *entry->place;
  return finding;
}

Diagnostics HadoopConfiguration::Finish(std::vector<Finding> findings) const {
  return sources_.Finish(std::move(findings));
}

}  // namespace tfyarn::config
