// g++ 11 and 12 destroy the captures of a temporary callable twice.
// expect: in_scope takes a named callable
#include <hocket/coro/scope.hpp>

hocket::task<> named() {
  auto body = [](hocket::scope&) -> hocket::task<> { co_return; };
  co_await hocket::in_scope(body);
}
#ifdef SHOULD_FAIL
void temporary() {
  hocket::in_scope([](hocket::scope&) -> hocket::task<> { co_return; });
}
#endif
