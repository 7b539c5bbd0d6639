// What cannot be copied is shared by reference.
// expect: hocket: tcp::serve copies its arguments, and one of these cannot be copied: pass std::ref\(x\)
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <functional>

hocket::task<> wait_for_news(hocket::tcp::stream, hocket::event& news) { static_cast<void>(co_await news.wait()); }

hocket::result<hocket::tcp::server> serve_news(hocket::runtime& rt, hocket::event& news) {
#ifdef SHOULD_FAIL
  return hocket::tcp::serve(rt, "127.0.0.1:0", wait_for_news, news);
#else
  return hocket::tcp::serve(rt, "127.0.0.1:0", wait_for_news, std::ref(news));
#endif
}
