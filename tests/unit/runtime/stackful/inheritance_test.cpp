// What fibers inherit.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>

namespace hocket_test {

template <class Target, class Options, class F>
auto spawn_body(Target& target, const Options& options, F& body) {
  return hocket::spawn(target, options, [&body] { hocket::await(body()); });
}

}  // namespace hocket_test

#include "suites/inheritance.hpp"
