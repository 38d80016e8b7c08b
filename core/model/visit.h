// std::visit with one function for each alternative, and without a catch-all: what is ignored is
// listed, so that a new alternative fails to compile until its author has decided about it.
#pragma once

#include <boost/mp11/list.hpp>
#include <utility>

namespace tfyarn {

template <class T>
struct IgnoreOne {
  void operator()(const T&) const {}
};

/// Does nothing with each of T.
template <class... T>
struct Ignore : IgnoreOne<T>... {
  using IgnoreOne<T>::operator()...;
};

/// Does nothing with each type of a list (mp_list).
template <class List>
using IgnoreAll = boost::mp11::mp_rename<List, Ignore>;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace tfyarn
