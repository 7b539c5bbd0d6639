// A pack of nothing: there is nobody to wait for.
// expect: no matching function for call to .(hocket::)?when_any
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_any.hpp>

inline auto wait_for(hocket::task<int> one) {
#ifdef SHOULD_FAIL
  static_cast<void>(hocket::when_any());
#endif
  return hocket::when_any(std::move(one));
}
