// How a model test states what it expects of a body. Every bug that is found is replayed: the same kind and the same
// interleaving, to the letter.
#pragma once
#include <hocket/model/model.hpp>

#include <doctest/doctest.h>
#include <string>

namespace verdict {

namespace model = hocket::model;

template <class Body>
model::report found(model::bug kind, const model::options& bounds, Body body) {
  auto result = model::explore(bounds, body);
  INFO(result.text());
  CHECK(result.kind == kind);
  CHECK_FALSE(result.complete);
  CHECK_FALSE(result.interleaving.empty());
  auto again = model::replay(result.replay, body, bounds);
  INFO(again.text());
  CHECK(again.kind == result.kind);
  CHECK(again.message == result.message);
  CHECK(again.interleaving == result.interleaving);
  CHECK(again.executions == 1);
  return result;
}

template <class Body>
model::report found(model::bug kind, Body body) {
  return found(kind, model::options{}, body);
}

template <class Body>
model::report none(const model::options& bounds, Body body) {
  auto result = model::explore(bounds, body);
  INFO(result.text());
  CHECK(result.kind == model::bug::none);
  CHECK(result.complete);
  return result;
}

template <class Body>
model::report none(Body body) {
  return none(model::options{}, body);
}

// Nothing was cut by a bound: a proof, as far as the memory model goes.
inline constexpr model::options unbounded{.preemptions = 100, .stale_reads = 100, .spurious = 100};

template <class Body>
model::report never(Body body) {
  auto result = none(unbounded, body);
  CHECK(result.exhaustive);
  return result;
}

// What an ordering test says of a file: the lines of those that nobody was seen to need, if any.
inline std::string unneeded_in(const std::string& file, const std::string& unneeded) {
  std::string lines;
  for (std::size_t at = 0; at < unneeded.size();) {
    std::size_t end = unneeded.find('\n', at);
    std::string line = unneeded.substr(at, end - at + 1);
    if (line.find(file + ":") != std::string::npos) lines += line;
    at = end + 1;
  }
  return lines;
}

}  // namespace verdict
