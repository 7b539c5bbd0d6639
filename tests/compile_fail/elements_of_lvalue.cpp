// A generator is handed over for good: the outer body owns it then.
// expect: elements_of takes a generator over
#include <hocket/coro/generator.hpp>

hocket::generator<int> one() { co_yield 1; }
hocket::generator<int> numbers() {
  auto inner = one();
#ifdef SHOULD_FAIL
  co_yield hocket::elements_of(inner);
#endif
  co_yield hocket::elements_of(std::move(inner));
}
