#include <hocket/base/random.hpp>
#include <hocket/sync/detail/chance.hpp>

#include <array>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

std::uint64_t always_42() noexcept { return 42; }
std::uint64_t always_43() noexcept { return 43; }

std::vector<std::uint32_t> draw(std::uint32_t bound) {
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < 1000; ++i) numbers.push_back(detail::chance_below(bound));
  return numbers;
}
std::vector<std::uint32_t> draw_after(seed_source source, std::uint32_t bound) {
  replace_seed_source(source);
  auto numbers = draw(bound);
  replace_seed_source(nullptr);
  return numbers;
}

}  // namespace

TEST_CASE("a replaced source of seeds replays the choices of a thread, and those of any other thread") {
  const auto first = draw_after(always_42, 1000);
  draw(7);
  CHECK(draw_after(always_42, 1000) == first);
  CHECK(draw_after(always_43, 1000) != first);
  std::vector<std::uint32_t> elsewhere;
  std::thread([&] { elsewhere = draw_after(always_42, 1000); }).join();
  CHECK(elsewhere == first);
}

TEST_CASE("chance stays below its bound, and leaves nothing out") {
  CHECK(draw_after(always_42, 1) == std::vector<std::uint32_t>(1000, 0));
  std::array<int, 4> seen{};
  for (std::uint32_t one : draw_after(always_42, 4)) ++seen.at(one);
  for (int times : seen) CHECK(times >= 200);
}

TEST_CASE("two threads that take seeds from the kernel choose differently") {
  std::vector<std::uint32_t> here = draw(1u << 30), elsewhere;
  std::thread([&] { elsewhere = draw(1u << 30); }).join();
  CHECK(here != elsewhere);
}
