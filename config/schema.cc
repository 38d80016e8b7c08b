// The field table as a JSON Schema.
//
// What one file can be checked for, an editor sees: names of fields, types, units, ranges, choices.
// A field that another file or a `defaults` block may bring is never required here, nor is anything
// that needs two fields at once.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "config/reference_tree.h"

namespace tfyarn::config {
namespace {

using Json = nlohmann::ordered_json;

std::string Slug(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), ' ', '-');
  return out;
}

class SchemaWriter {
 public:
  Json Write(FileKind kind) {
    const RecordInfo& root = RootOf(kind);
    Json schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["$id"] = kind == FileKind::kScenario ? "urn:tfyarn:tfsim/v1" : "urn:tfyarn:job/v1";
    schema["title"] = kind == FileKind::kScenario ? "scenario.yaml" : "job.yaml";
    Json body = RecordSchema(root, false);
    for (auto& [key, value] : body.items()) schema[key] = value;
    if (kind == FileKind::kJob)
      schema["properties"]["include"] = Json{{"type", {"string", "array"}}};
    Json definitions = Json::object();
    // Writing a record may find further ones.
    while (!open_.empty()) {
      const auto [record, element] = open_.back();
      open_.pop_back();
      definitions[Slug(record->name)] = RecordSchema(*record, element);
    }
    schema["$defs"] = definitions;
    return schema;
  }

 private:
  Json Reference(const RecordInfo& record, bool element) {
    if (known_.insert(record.name).second) open_.emplace_back(&record, element);
    return {{"$ref", "#/$defs/" + Slug(record.name)}};
  }

  Json RecordSchema(const RecordInfo& record, bool element) {
    Json schema;
    schema["type"] = element ? Json("object") : Json({"object", "null"});
    schema["description"] = record.doc;
    Json properties = Json::object();
    Json required = Json::array();
    for (const FieldInfo& field : record.fields) {
      Json property = TypeSchema(field.type, false);
      if (property.contains("$ref")) property = Json{{"allOf", Json::array({property})}};
      property["description"] = field.doc;
      if (!field.default_text.empty())
        property["description"] = field.doc + " Default: " + field.default_text + ".";
      properties[field.name] = std::move(property);
      if (field.required && element && record.name != "job") required.push_back(field.name);
    }
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    if (!record.other_keys.empty())
      schema["patternProperties"] = Json{{record.other_keys, Json::object()}};
    schema["additionalProperties"] = false;
    return schema;
  }

  Json LawSchema(const TypeInfo& type) {
    Json forms = Json::array({TypeSchema(type.of[0], false)});
    for (const LawForm& law : LawForms()) {
      if (std::find(type.choices.begin(), type.choices.end(), law.name) == type.choices.end())
        continue;
      Json properties{{"dist", {{"const", law.name}}}};
      Json required = Json::array({"dist"});
      for (const auto& [name, in_unit] : law.params) {
        properties[name] = in_unit ? TypeSchema(type.of[0], false) : Json{{"type", "number"}};
        required.push_back(name);
      }
      forms.push_back({{"type", "object"},
                       {"properties", properties},
                       {"required", required},
                       {"additionalProperties", false}});
    }
    Json values{{"type", "array"}, {"items", TypeSchema(type.of[0], false)}, {"minItems", 1}};
    forms.push_back({{"type", "object"},
                     {"properties", {{"dist", {{"const", "empirical"}}}, {"values", values}}},
                     {"required", {"dist", "values"}},
                     {"additionalProperties", false}});
    return {{"anyOf", forms}};
  }

  Json TypeSchema(const TypeInfo& type, bool element) {
    switch (type.shape) {
      case Shape::kText: {
        // YAML reads `name: 7` as a number; here it is the text 7.
        Json schema{{"type", {"string", "number", "boolean"}}};
        if (!type.pattern.empty()) schema["pattern"] = type.pattern;
        return schema;
      }
      case Shape::kBool:
        return {{"type", "boolean"}};
      case Shape::kWhole:
      case Shape::kNumber: {
        Json schema{{"type", type.shape == Shape::kWhole ? "integer" : "number"}};
        if (type.least) schema["minimum"] = *type.least;
        if (type.most) schema["maximum"] = *type.most;
        return schema;
      }
      case Shape::kQuantity:
        return {{"type", "string"}, {"pattern", type.pattern}};
      case Shape::kChoice:
        return {{"enum", type.choices}};
      case Shape::kDistribution:
        return LawSchema(type);
      case Shape::kList: {
        Json schema{{"type", {"array", "null"}}};
        if (!type.of.empty()) schema["items"] = TypeSchema(type.of[0], true);
        return schema;
      }
      case Shape::kMap: {
        Json schema{{"type", {"object", "null"}}};
        if (!type.pattern.empty()) schema["propertyNames"] = Json{{"pattern", type.pattern}};
        if (!type.of.empty()) {
          schema["additionalProperties"] =
              Json{{"anyOf", {TypeSchema(type.of[0], false), Json{{"type", "null"}}}}};
        }
        return schema;
      }
      case Shape::kRecord:
        return Reference(type.record(), element);
      case Shape::kAnyOf: {
        Json forms = Json::array();
        for (const TypeInfo& of : type.of) forms.push_back(TypeSchema(of, element));
        return {{"anyOf", forms}};
      }
    }
    return Json::object();
  }

  std::set<std::string> known_;
  std::vector<std::pair<const RecordInfo*, bool>> open_;
};

}  // namespace

std::string SchemaJson(FileKind kind) {
  return SchemaWriter().Write(kind).dump(2) + "\n";
}

}  // namespace tfyarn::config
