// A pack of nothing: there is nobody to wait for.
// expect: no matching function for call to .(hocket::)?when_all
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>

inline auto wait_for(hocket::task<int> one) {
#ifdef SHOULD_FAIL
  static_cast<void>(hocket::when_all());
#endif
  return hocket::when_all(std::move(one));
}
