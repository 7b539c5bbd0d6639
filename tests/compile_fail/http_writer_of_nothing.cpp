// A function that writes a body returns a task.
// expect: hocket: a function that writes a body returns hocket::task<hocket::result<void>> or hocket::task<>
#include <hocket/http/body_writer.hpp>
#include <hocket/http/response.hpp>

#ifdef SHOULD_FAIL
void write_page(hocket::http::body_writer&);
#else
hocket::task<> write_page(hocket::http::body_writer&);
#endif
hocket::http::response stream() { return hocket::http::stream_body("text/plain", write_page); }
