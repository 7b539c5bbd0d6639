// All connections share one handler, perhaps on several threads.
// expect: hocket: all connections of tcp::serve share one const handler.*no mutable lambda
#include <hocket/net.hpp>

hocket::result<hocket::tcp::server> count_connections(hocket::runtime& rt) {
  auto count = [n = 0](hocket::tcp::stream)
#ifdef SHOULD_FAIL
                   mutable -> hocket::task<> {
    ++n;
    co_return;
  };
#else
      -> hocket::task<> { return n == 0 ? hocket::task<>{} : hocket::task<>{}; };
#endif
  return hocket::tcp::serve(rt, "127.0.0.1:0", count);
}
