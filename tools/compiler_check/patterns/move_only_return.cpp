// A local that can only be moved is returned.
#include "support.hpp"

struct owner {
  tracked held;
  explicit owner(int value) : held(value) {}
  owner(owner&&) = default;
};
task<owner> make_owner() {
  owner local(9);
  co_await turn{};
  co_return local;
}
task<int> pattern() {
  owner result = co_await make_owner();
  co_return result.held.value();
}

int main() { return verdict(pattern, 9); }
