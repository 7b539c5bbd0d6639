// What tasks inherit.
#include <hocket/coro/spawn.hpp>

namespace hocket_test {

template <class Target, class Options, class F>
auto spawn_body(Target& target, const Options& options, F& body) {
  return hocket::spawn(target, options, std::ref(body));
}

}  // namespace hocket_test

#include "suites/inheritance.hpp"
