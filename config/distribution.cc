// Reading and showing laws: `3s`, or `{dist: uniform, min: 1s, max: 3s}`.
#include "config/distribution.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "config/suggest.h"
#include "config/type.h"

namespace tfyarn::config {
namespace {

enum class Param { kUnit, kShape, kWhole };

struct ParamInfo {
  std::string_view name;
  Param kind = Param::kUnit;
};

struct LawInfo {
  Law law;
  std::string_view name;
  ParamInfo a;
  ParamInfo b;  // name "" = has none
};

// What each law takes, in the order of Distribution::a and b.
constexpr std::array<LawInfo, 8> kLaws = {
    {{Law::kConst, "const", {"value", Param::kUnit}, {}},
     {Law::kUniform, "uniform", {"min", Param::kUnit}, {"max", Param::kUnit}},
     {Law::kExponential, "exponential", {"mean", Param::kUnit}, {}},
     {Law::kWeibull, "weibull", {"shape", Param::kShape}, {"scale", Param::kUnit}},
     {Law::kLognormal, "lognormal", {"median", Param::kUnit}, {"sigma", Param::kShape}},
     {Law::kGamma, "gamma", {"shape", Param::kShape}, {"scale", Param::kUnit}},
     {Law::kPareto, "pareto", {"shape", Param::kShape}, {"min", Param::kUnit}},
     {Law::kZipf, "zipf", {"n", Param::kWhole}, {"s", Param::kShape}}}};
constexpr std::size_t kMaxEmpirical = 10'000;

/// How values of a unit are read and shown.
struct UnitRule {
  Type<double> type;
  std::string_view name;
};

UnitRule RuleOf(LawUnit unit) {
  switch (unit) {
    case LawUnit::kPlain:
      return {.type = Number(0, 1e15), .name = "number"};
    case LawUnit::kSeconds: {
      const Type<Duration> time = Time();
      return {.type = {.info = time.info,
                       .read =
                           [time](Decoder& decoder, const Node& node, double& out) {
                             auto value = Duration::min();
                             time.read(decoder, node, value);
                             if (value >= Duration::zero()) out = SecondsOf(value);
                           },
                       .show =
                           [](const double& value) {
                             return ToString(
                                 Duration(static_cast<std::int64_t>(std::llround(value * 1e9))));
                           }},
              .name = "duration"};
    }
    case LawUnit::kMemoryMb: {
      const Type<std::int64_t> memory = Memory();
      return {.type = {.info = memory.info,
                       .read =
                           [memory](Decoder& decoder, const Node& node, double& out) {
                             std::int64_t value = -1;
                             memory.read(decoder, node, value);
                             if (value >= 0) out = static_cast<double>(value);
                           },
                       .show =
                           [](const double& value) {
                             return MemoryText(static_cast<std::int64_t>(value));
                           }},
              .name = "memory size"};
    }
  }
  return {};
}

std::vector<std::string> LawNames(LawUnit unit) {
  std::vector<std::string> names;
  for (const LawInfo& law : kLaws) {
    // Zipf's law gives ranks, which have no unit.
    if (law.law != Law::kZipf || unit == LawUnit::kPlain) names.emplace_back(law.name);
  }
  names.emplace_back("empirical");
  return names;
}

void ReadLawParam(Decoder& decoder, const Node& node, const ParamInfo& param, const UnitRule& rule,
                  double& out) {
  const Decoder::Scope scope(decoder, std::string(param.name));
  switch (param.kind) {
    case Param::kUnit:
      return rule.type.read(decoder, node, out);
    case Param::kShape:
      return Number(0.001, 1000).read(decoder, node, out);
    case Param::kWhole: {
      auto whole = static_cast<std::int64_t>(out);
      Whole(1, 1'000'000).read(decoder, node, whole);
      out = static_cast<double>(whole);
      return;
    }
  }
}

/// Unknown keys beside `dist`, and missing ones.
void CheckKeys(Decoder& decoder, const Node& node, std::string_view law,
               const std::vector<std::string>& wanted) {
  std::vector<std::string> allowed = wanted;
  allowed.insert(allowed.begin(), "dist");
  for (const Entry& entry : node.entries) {
    if (std::find(allowed.begin(), allowed.end(), entry.key) == allowed.end()) {
      decoder.ErrorAtKey(
          entry,
          fmt::format("unknown field `{}` in the distribution {}", Printable(entry.key), law),
          NotesForNames(entry.key, allowed));
    }
  }
  for (const std::string& name : wanted) {
    if (node.Find(name) == nullptr) {
      decoder.Error(node, decoder.Named(fmt::format("the distribution {} needs `{}`", law, name)));
    }
  }
}

void ReadEmpirical(Decoder& decoder, const Node& node, const UnitRule& rule, Distribution& out) {
  CheckKeys(decoder, node, "empirical", {"values"});
  const Node* values = node.Find("values");
  if (values == nullptr) return;
  const Decoder::Scope scope(decoder, "values");
  if (!values->is_list() || values->items.empty() || values->items.size() > kMaxEmpirical) {
    return decoder.Wrong(*values, fmt::format("a list of 1 to {} values", kMaxEmpirical));
  }
  out = {.law = Law::kEmpirical};
  for (const Node& item : values->items) {
    double value = 0;
    rule.type.read(decoder, item, value);
    out.values.push_back(value);
  }
}

/// What must hold between the parameters, and with the field's least value.
void CheckRanges(Decoder& decoder, const Node& node, const LawInfo& law, const UnitRule& rule,
                 double least, const Distribution& value) {
  const auto show = rule.type.show;
  if (law.law == Law::kUniform && value.a > value.b) {
    return decoder.Error(
        *node.Find("max"),
        decoder.Named(fmt::format("`max` {} is below `min` {}", show(value.b), show(value.a))));
  }
  for (const auto& [param, number] : {std::pair(law.a, value.a), std::pair(law.b, value.b)}) {
    if (param.name.empty() || param.kind != Param::kUnit) continue;
    const bool scale = law.law != Law::kConst && law.law != Law::kUniform;
    if (scale && number <= 0) {
      decoder.Error(*node.Find(param.name),
                    decoder.Named(fmt::format("`{}` must be more than 0", param.name)));
    } else if (number < least && (law.law == Law::kConst || law.law == Law::kUniform)) {
      decoder.Error(
          *node.Find(param.name),
          decoder.Named(fmt::format("`{}` is out of range: at least {}", param.name, show(least))));
    }
  }
}

void ReadLaw(Decoder& decoder, const Node& node, LawUnit unit, double least, Distribution& out) {
  const UnitRule rule = RuleOf(unit);
  const Node* dist = node.Find("dist");
  const std::vector<std::string> names = LawNames(unit);
  if (dist == nullptr) {
    return decoder.Error(node, decoder.Named("a distribution is named by `dist`"),
                         {"example: {dist: exponential, mean: " + rule.type.show(30) + "}"});
  }
  const int which = ReadChoice(decoder, *dist, names);
  if (which < 0) return;
  if (dist->text == "empirical") return ReadEmpirical(decoder, node, rule, out);
  const LawInfo& law = kLaws[static_cast<std::size_t>(which)];
  std::vector<std::string> wanted = {std::string(law.a.name)};
  if (!law.b.name.empty()) wanted.emplace_back(law.b.name);
  const std::size_t before = decoder.findings().size();
  CheckKeys(decoder, node, law.name, wanted);
  out = {.law = law.law};
  if (const Node* a = node.Find(law.a.name)) ReadLawParam(decoder, *a, law.a, rule, out.a);
  if (const Node* b = law.b.name.empty() ? nullptr : node.Find(law.b.name))
    ReadLawParam(decoder, *b, law.b, rule, out.b);
  if (decoder.findings().size() == before) CheckRanges(decoder, node, law, rule, least, out);
}

}  // namespace

std::vector<LawForm> LawForms() {
  std::vector<LawForm> forms;
  for (const LawInfo& law : kLaws) {
    LawForm form{.name = std::string(law.name), .params = {}};
    for (const ParamInfo& param : {law.a, law.b}) {
      if (!param.name.empty()) form.params.emplace_back(param.name, param.kind == Param::kUnit);
    }
    forms.push_back(std::move(form));
  }
  return forms;
}

std::string LawText(const Distribution& distribution, LawUnit unit) {
  const UnitRule rule = RuleOf(unit);
  if (distribution.is_constant()) return rule.type.show(distribution.a);
  if (distribution.law == Law::kEmpirical) return "{dist: empirical, values: [...]}";
  for (const LawInfo& law : kLaws) {
    if (law.law != distribution.law) continue;
    const auto text = [&](const ParamInfo& param, double value) {
      return fmt::format("{}: {}", param.name,
                         param.kind == Param::kUnit ? rule.type.show(value) : NumberText(value));
    };
    return fmt::format("{{dist: {}, {}{}}}", law.name, text(law.a, distribution.a),
                       law.b.name.empty() ? "" : ", " + text(law.b, distribution.b));
  }
  return {};
}

Type<Distribution> Random(LawUnit unit, double least) {
  const UnitRule rule = RuleOf(unit);
  return {.info = {.shape = Shape::kDistribution,
                   .text = fmt::format("{} or distribution", rule.name),
                   .choices = LawNames(unit),
                   .of = {rule.type.info}},
          .read =
              [unit, rule, least](Decoder& decoder, const Node& node, Distribution& out) {
                if (node.is_map()) return ReadLaw(decoder, node, unit, least, out);
                if (!node.is_scalar()) {
                  return decoder.Wrong(node, fmt::format("a {} or a distribution", rule.name));
                }
                double value = -1;
                rule.type.read(decoder, node, value);
                if (value < 0) return;
                if (value < least) {
                  return decoder.BadValue(node,
                                          "is out of range: at least " + rule.type.show(least));
                }
                out = Distribution::Constant(value);
              },
          .show = [unit](const Distribution& value) { return LawText(value, unit); }};
}

}  // namespace tfyarn::config
