// Where decoding writes what it finds wrong, and how it is told what to overlook.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/tree.h"

namespace tfyarn::config {

class Decoder {
 public:
  /// `complete` false: fields may be missing and nothing is compared with anything, as in a
  /// `defaults:` block that is only a part of each job.
  explicit Decoder(bool complete = true) : complete_(complete) {}

  void Error(const Node& at, std::string message, std::vector<std::string> notes = {}) {
    ErrorAt(at.place, at.width(), std::move(message), std::move(notes));
  }
  void ErrorAtKey(const Entry& entry, std::string message, std::vector<std::string> notes = {}) {
    ErrorAt(entry.key_place, static_cast<std::uint32_t>(entry.key.size()), std::move(message),
            std::move(notes));
  }
  void ErrorAt(Place place, std::uint32_t width, std::string message,
               std::vector<std::string> notes = {}) {
    findings_.push_back(
        {.place = place, .width = width, .message = std::move(message), .notes = std::move(notes)});
  }
  /// "`NAME` WHAT: ..." for a value of the wrong kind: says the field, what it wants and what it
  /// got.
  void Wrong(const Node& at, std::string_view wants, std::vector<std::string> notes = {});
  /// "`NAME`: VALUE PROBLEM", with "did you mean SUGGESTION?".
  void BadValue(const Node& at, std::string_view problem, std::string_view suggestion = {});
  /// A name that is none of `known`: "there is no WHAT `NAME`".
  void Unknown(const Node& at, std::string_view what, std::string_view name,
               const std::vector<std::string>& known);

  /// Text with the value behind the field's name: "`hold`: ".
  [[nodiscard]] std::string Named(std::string_view rest) const;

  [[nodiscard]] bool complete() const { return complete_; }
  /// True when something was wrong in that field of the record whose checks run now: a check that
  /// needs it must not complain about what the user never wrote.
  [[nodiscard]] bool Broken(std::string_view field) const { return broken_.contains(field); }
  void set_broken(std::set<std::string, std::less<>> fields) { broken_ = std::move(fields); }
  /// The same for one element of a list that is a field of the outermost record.
  [[nodiscard]] bool BrokenItem(const std::string& field, std::size_t index) const {
    return broken_items_.contains({field, index});
  }
  /// Remembers that something was wrong in an element of the list that is being read.
  void MarkItem(std::size_t index) { broken_items_.emplace(field_, index); }
  [[nodiscard]] std::vector<Finding>& findings() { return findings_; }

  /// The name of the field being read, for messages; set by records around each of their fields.
  class Scope {
   public:
    Scope(Decoder& decoder, std::string name)
        : decoder_(decoder), outer_(std::move(decoder.field_)) {
      decoder.field_ = std::move(name);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { decoder_.field_ = std::move(outer_); }

   private:
    Decoder& decoder_;
    std::string outer_;
  };

 private:
  bool complete_;
  std::string field_;
  std::set<std::string, std::less<>> broken_;
  std::set<std::pair<std::string, std::size_t>> broken_items_;
  std::vector<Finding> findings_;
};

}  // namespace tfyarn::config
