#pragma once
// Where the coroutines of a batch live: on a loop of their own, or (LAB_WORKERS) on the runtime of the process.
#include <functional>
#include <vector>

#include "kind.hpp"

#ifdef LAB_WORKERS
#include <hocket/core/sync_wait.hpp>
#include <hocket/runtime/runtime.hpp>
#endif

namespace lab {

// `many` runs coroutines with the numbers 0 to count - 1, in this order, to their end; `alone` one without a number.
#ifdef LAB_WORKERS
inline hocket::runtime& workers(std::size_t count = 1) {
  static hocket::runtime all({.workers = count});  // the first call says how many
  return all;
}

template <class Body>
coroutine many_in(Body& body, int count) {
  std::vector<hocket::join_handle<void>> all;
  for (int i = 0; i < count; ++i) all.push_back(hocket::spawn(workers(), std::ref(body), i));
  for (auto& one : all) LAB_AWAIT(one);
  LAB_END;
}

template <class Body>
void many(int count, Body body) {
  hocket::sync_wait(hocket::spawn(workers(), many_in<Body>, std::ref(body), count));
}
template <class Body>
void alone(Body body) {
  hocket::sync_wait(hocket::spawn(workers(), std::ref(body)));
}
#else
template <class Body>
void many(int count, Body body) {
  hocket::loop loop;
  for (int i = 0; i < count; ++i) hocket::spawn(loop, std::ref(body), i);
  loop.run();
}
template <class Body>
void alone(Body body) {
  hocket::loop loop;
  hocket::spawn(loop, std::ref(body));
  loop.run();
}
#endif

template <class Body>
void both(Body body) {
  many(2, std::move(body));
}

}  // namespace lab
