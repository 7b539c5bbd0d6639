// An array of characters on the stack is no literal.
// expect: not a constant expression
#include <hocket/stackless.hpp>

using namespace hocket;

void use(loop&);
#ifdef SHOULD_FAIL
void begin() {
  char text[8] = "a loop";
  loop on({.name = text});
  use(on);
}
#else
void begin() {
  static constexpr char text[8] = "a loop";
  loop on({.name = text});
  use(on);
}
#endif
