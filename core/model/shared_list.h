// A list that is made once and told to many: the reports of 10,000 nodes reach thousands of
// ApplicationMasters, and not one of them needs a copy of its own.
//
// Immutable, so that sharing shows nowhere: to every form (text, digest, JSON, binary) it is the
// vector that it was made from. Its elements lie in blocks, and a list made by changing a few
// elements of another shares all blocks but theirs.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/model/check.h"

namespace tfyarn {

template <class T>
class SharedList {
 public:
  /// Elements of a block; the last may have fewer.
  static constexpr std::size_t kBlock = 32;
  using Block = std::shared_ptr<const std::vector<T>>;
  using value_type = T;

  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    const_iterator() = default;
    const_iterator(const Block* blocks, std::size_t at) : blocks_(blocks), at_(at) {}

    reference operator*() const { return (*blocks_[at_ / kBlock])[at_ % kBlock]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type n) const { return *(*this + n); }
    const_iterator& operator+=(difference_type n) {
      at_ = static_cast<std::size_t>(static_cast<difference_type>(at_) + n);
      return *this;
    }
    const_iterator& operator-=(difference_type n) { return *this += -n; }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this -= 1; }
    const_iterator operator++(int) { return std::exchange(*this, *this + 1); }
    const_iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend const_iterator operator+(const_iterator a, difference_type n) { return a += n; }
    friend const_iterator operator+(difference_type n, const_iterator a) { return a += n; }
    friend const_iterator operator-(const_iterator a, difference_type n) { return a -= n; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.at_ == b.at_;
    }
    friend auto operator<=>(const const_iterator& a, const const_iterator& b) {
      return a.at_ <=> b.at_;
    }

   private:
    const Block* blocks_ = nullptr;
    std::size_t at_ = 0;
  };

  SharedList() = default;
  /// Implicit: a list is given by giving its elements.
  SharedList(std::vector<T> elements)
      : size_(elements.size()) {  // NOLINT(google-explicit-constructor)
    std::vector<Block> blocks;
    blocks.reserve((size_ + kBlock - 1) / kBlock);
    for (std::size_t begin = 0; begin < size_; begin += kBlock) {
      const auto from = elements.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto length = static_cast<std::ptrdiff_t>(std::min(kBlock, size_ - begin));
      blocks.push_back(std::make_shared<const std::vector<T>>(
          std::make_move_iterator(from), std::make_move_iterator(from + length)));
    }
    if (size_ > 0) blocks_ = std::make_shared<const std::vector<Block>>(std::move(blocks));
  }
  SharedList(std::initializer_list<T> elements) : SharedList(std::vector<T>(elements)) {}

  /// This list with other elements at some places, each below size(); the last one for a place
  /// counts.
  [[nodiscard]] SharedList With(std::vector<std::pair<std::size_t, T>> changes) const {
    if (changes.empty()) return *this;
    std::vector<Block> blocks = this->blocks();
    std::vector<std::shared_ptr<std::vector<T>>> own(blocks.size());
    for (auto& [place, element] : changes) {
      TF_CHECK(place < size_);
      std::shared_ptr<std::vector<T>>& block = own[place / kBlock];
      if (block == nullptr) {
        block = std::make_shared<std::vector<T>>(*blocks[place / kBlock]);
        blocks[place / kBlock] = block;
      }
      (*block)[place % kBlock] = std::move(element);
    }
    SharedList changed;
    changed.size_ = size_;
    changed.blocks_ = std::make_shared<const std::vector<Block>>(std::move(blocks));
    return changed;
  }

  /// What two lists share has the same address.
  [[nodiscard]] const std::vector<Block>& blocks() const {
    static const std::vector<Block> none;
    return blocks_ == nullptr ? none : *blocks_;
  }
  [[nodiscard]] const_iterator begin() const { return {blocks().data(), 0}; }
  [[nodiscard]] const_iterator end() const { return {blocks().data(), size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const T& operator[](std::size_t i) const {
    return begin()[static_cast<std::ptrdiff_t>(i)];
  }

 private:
  std::shared_ptr<const std::vector<Block>> blocks_;  // nullptr = empty
  std::size_t size_ = 0;
};

}  // namespace tfyarn
