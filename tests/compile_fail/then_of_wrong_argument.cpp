// The continuation gets what the await gives.
// expect: no matching function for call to .then
#include <hocket/coro/then.hpp>

struct page {};
hocket::task<page> load();
int title(page);
int length(const char*);
#ifdef SHOULD_FAIL
auto wrong() { return hocket::then(load(), length); }
#else
auto right() { return hocket::then(load(), title); }
#endif
