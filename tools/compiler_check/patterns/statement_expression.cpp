// A statement expression around a co_await (a TRY macro).
// Instead: await first, then test; or hocket's or_return.
#include "support.hpp"

task<int> pattern() {
  tracked a = __extension__({
    auto result = co_await object(3);
    if (result.value() < 0) co_return -1;
    std::move(result);
  });
  co_return a.value();
}

int main() { return verdict(pattern, 3); }
