// A function that writes events returns a task.
// expect: hocket: a function that writes events returns hocket::task<hocket::result<void>> or hocket::task<>
#include <hocket/http/event_stream.hpp>

#ifdef SHOULD_FAIL
void send_news(hocket::http::event_writer&);
#else
hocket::task<> send_news(hocket::http::event_writer&);
#endif
hocket::http::response stream() { return hocket::http::event_stream(send_news); }
