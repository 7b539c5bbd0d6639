// Boost.Fiber on one thread, as in ../boost_fiber.cpp.
#include <boost/fiber/all.hpp>

#include "scheduler.hpp"

namespace {

namespace fibers = boost::fibers;
using lab::load;

void yielding(lab::gate& gate, std::size_t k) {
  gate.arrive();
  while (!gate.is_open()) boost::this_fiber::yield();
  for (; k; --k) boost::this_fiber::yield();
  gate.leave();
}

void yields(const char* system, const load& r) {
  fibers::pooled_fixedsize_stack stacks{r.stack};
  lab::gate gate;
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    gate.close(r.count);
    std::vector<fibers::fiber> all;
    for (std::size_t i = 0; i < r.count; ++i) {
      all.emplace_back(fibers::launch::post, std::allocator_arg, stacks, [&gate, k] { yielding(gate, k); });
    }
    for (fibers::fiber& one : all) one.join();
    return gate.wait();
  });
  r.emit_of(system, "yields", "ns", ns / static_cast<double>(r.count));
}

constexpr lab::named_load loads[] = {{"yields", yields}};

}  // namespace

int main(int argc, char** argv) { return lab::run_load(LAB_SYSTEM, argc, argv, loads); }
