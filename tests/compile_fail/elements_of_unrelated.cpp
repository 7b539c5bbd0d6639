// What a range gives must convert to what the generator yields.
// expect: does not convert to what the generator yields
#include <hocket/coro/generator.hpp>

struct unrelated {};
hocket::generator<int> numbers() {
  unrelated things[2];
  int values[2] = {1, 2};
#ifdef SHOULD_FAIL
  co_yield hocket::elements_of(things);
#endif
  static_cast<void>(things);
  co_yield hocket::elements_of(values);
}
