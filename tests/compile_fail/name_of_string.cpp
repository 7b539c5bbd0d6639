// A name is a literal, because it is not copied.
// first: a name is a string literal; for text that outlives the coroutine: outliving_name\(text\)
// alone
#include <hocket/stackless.hpp>
#include <string>

using namespace hocket;

task<> work() { co_return; }
#ifdef SHOULD_FAIL
void begin(loop& on, const std::string& text) { spawn(on, {.name = text.c_str()}, work); }
#else
void begin(loop& on, const std::string& text) { spawn(on, {.name = outliving_name(text.c_str())}, work); }
#endif
