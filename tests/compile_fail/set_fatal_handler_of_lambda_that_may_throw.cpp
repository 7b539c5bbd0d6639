// A handler without noexcept.
// first: a fatal handler is noexcept and captures nothing
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

#ifdef SHOULD_FAIL
void install() {
  set_fatal_handler([](const fatal_error&) {});
}
#else
void install() {
  set_fatal_handler([](const fatal_error&) noexcept {});
}
#endif
