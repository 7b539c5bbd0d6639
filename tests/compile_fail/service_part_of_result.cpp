// The end of a part has no result that anything would read.
// expect: hocket: the end of a part is a callable that returns task<>: an error leaves it as an exception, by or_throw
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>

hocket::task<hocket::result<void>> flush() { co_return {}; }

void add_flush(hocket::service& all) {
#ifdef SHOULD_FAIL
  all.add("flush", [] { return flush(); });
#else
  all.add("flush", []() -> hocket::task<> { co_await hocket::or_throw(flush()); });
#endif
}
