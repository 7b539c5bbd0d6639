// A handler with a state.
// first: a log handler is noexcept and captures nothing
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

#ifdef SHOULD_FAIL
void install(int& told) {
  set_log_handler([&](const char*) noexcept { ++told; });
}
#else
void install() {
  set_log_handler([](const char*) noexcept {});
}
#endif
