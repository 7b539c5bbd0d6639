// A parameter of a path is an integer or a text.
// expect: hocket: a value of a request is an integer, a std::string_view or a std::string
#include <hocket/http/request.hpp>

#ifdef SHOULD_FAIL
using number = double;
#else
using number = long;
#endif
hocket::result<number> id_of(const hocket::http::request& rq) { return rq.path<number>("id"); }
