// A handler with a state.
// first: a notice handler is noexcept and captures nothing
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

#ifdef SHOULD_FAIL
void install(int& told) {
  on_notice([&](const char*) noexcept { ++told; });
}
#else
void install() {
  on_notice([](const char*) noexcept {});
}
#endif
