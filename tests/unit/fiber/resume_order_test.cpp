// More coroutines than it takes for the memory of later ones to be asked for (fiber/detail/resume_order.hpp): what was
// guessed changes nothing, whatever the order, and whatever state the neighbours are in.
#include <hocket/base/random.hpp>
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

constexpr std::size_t many = 1200;  // in several slabs

// Coroutines that count how often they were resumed, and end after the third time.
class crowd {
 public:
  explicit crowd(stack_pool& pool) {
    for (std::size_t i = 0; i < many; ++i)
      all_.push_back(coroutine<int()>{pool, [](auto& self) {
                                        self.yield(1);
                                        self.yield(2);
                                        return 3;
                                      }});
  }

  // Resumes each in that order. All must be at the same place.
  bool all_yield(int expected, const std::vector<std::size_t>& order) {
    return std::ranges::all_of(order, [&](std::size_t i) { return all_[i].resume() == expected; });
  }
  void destroy(const std::vector<std::size_t>& order) {
    for (std::size_t i : order) all_[i].reset();
  }

 private:
  std::vector<coroutine<int()>> all_;
};

std::vector<std::size_t> forwards() {
  std::vector<std::size_t> order(many);
  std::iota(order.begin(), order.end(), 0);
  return order;
}
std::vector<std::size_t> backwards() {
  std::vector<std::size_t> order = forwards();
  std::ranges::reverse(order);
  return order;
}
std::vector<std::size_t> anyhow() {
  std::vector<std::size_t> order = forwards();
  std::shuffle(order.begin(), order.end(), detail::random_engine(7));
  return order;
}

void go_through_all(stack_pool& pool) {
  crowd one(pool);
  CHECK(one.all_yield(1, forwards()));
  CHECK(one.all_yield(2, backwards()));
  one.destroy(forwards());  // in the middle of their bodies

  crowd two(pool);
  CHECK(two.all_yield(1, anyhow()));
  CHECK(two.all_yield(2, forwards()));
  CHECK(two.all_yield(3, backwards()));
  two.destroy(backwards());  // finished

  crowd three(pool);
  three.destroy(anyhow());  // never begun
}

}  // namespace

TEST_CASE("very many coroutines are resumed and destroyed in any order: the result is that of few") {
  stack_pool own;
  go_through_all(own);
  stack_pool dense({.stack_size = 8192, .layout = stack_layout::dense});
  go_through_all(dense);
}

TEST_CASE("a neighbour that is asked for may be another thread's") {
  stack_depot depot({.stack_size = 16 * 1024});
  auto work = [&depot] {
    stack_pool pool(depot);
    go_through_all(pool);
  };
  std::thread other(work);
  work();
  other.join();
}
