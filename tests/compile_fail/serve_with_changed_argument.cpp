// All connections share one copy of an argument: what a handler changes is passed by std::ref.
// expect: hocket: all connections of tcp::serve share one const handler.*std::ref for what the handler changes
#include <hocket/net.hpp>
#include <functional>

hocket::task<> add(hocket::tcp::stream, int& sum) {
  ++sum;
  co_return;
}

hocket::result<hocket::tcp::server> serve_sum(hocket::runtime& rt, int& sum) {
#ifdef SHOULD_FAIL
  return hocket::tcp::serve(rt, "127.0.0.1:0", add, sum);
#else
  return hocket::tcp::serve(rt, "127.0.0.1:0", add, std::ref(sum));
#endif
}
