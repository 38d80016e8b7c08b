// A list that is made once and told to many: the reports of 10,000 nodes reach thousands of
// ApplicationMasters, and not one of them needs a copy of its own.
//
// Immutable, so that sharing shows nowhere: to every form (text, digest, JSON, binary) it is the
// vector that it was made from.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace tfyarn {

template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedList() = default;
  /// Implicit: a list is given by giving its elements.
  SharedList(std::vector<T> elements)  // NOLINT(google-explicit-constructor)
      : elements_(elements.empty() ? nullptr
                                   : std::make_shared<const std::vector<T>>(std::move(elements))) {}
  SharedList(std::initializer_list<T> elements) : SharedList(std::vector<T>(elements)) {}

  [[nodiscard]] const std::vector<T>& elements() const {
    static const std::vector<T> none;
    return elements_ == nullptr ? none : *elements_;
  }
  [[nodiscard]] const_iterator begin() const { return elements().begin(); }
  [[nodiscard]] const_iterator end() const { return elements().end(); }
  [[nodiscard]] std::size_t size() const { return elements().size(); }
  [[nodiscard]] bool empty() const { return elements_ == nullptr; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return elements()[i]; }

 private:
  std::shared_ptr<const std::vector<T>> elements_;  // nullptr = empty
};

}  // namespace tfyarn
