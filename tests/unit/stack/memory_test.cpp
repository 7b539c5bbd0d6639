// The seam to the operating system: what dropped, guarded and unguarded pages do. What the kernel finds at an address
// is asked by a system call that reads it, so that nothing dies.
#include "stack/memory.hpp"

#include "support/death.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace hocket;

namespace {

bool readable(const std::byte* at) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const bool read = write(ends[1], at, 1) == 1;
  if (!read) CHECK(errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
  return read;
}

// So many pages, all written, of which every other one is in `ranges`.
struct pages {
  explicit pages(std::size_t count)
      : size(2 * count * detail::page_size()), memory(detail::reserve_memory(size, detail::page_size()).value()) {
    std::memset(memory, 0x5a, size);
    for (std::size_t i = 0; i < count; ++i)
      ranges.push_back({memory + 2 * i * detail::page_size(), detail::page_size()});
  }
  ~pages() { detail::return_memory(memory, size); }
  std::size_t count() const { return ranges.size(); }
  const std::byte* between(std::size_t i) const { return ranges[i].first + detail::page_size(); }

  std::size_t size;
  std::byte* memory;
  std::vector<detail::memory_range> ranges;
};

constexpr std::size_t many = 150;  // more than go into one call

void check_guards() {
  pages some(many);
  detail::guard_report report = detail::guard_pages(some.ranges.data(), many);
  CHECK_FALSE(report.error);
  CHECK(report.guarded == many);
  CHECK(report.split == (detail::guards_are_markers() ? 0 : many));
  for (std::size_t i = 0; i < many; ++i) {
    CHECK_FALSE(readable(some.ranges[i].first));
    CHECK_FALSE(readable(some.ranges[i].first + detail::page_size() - 1));
    CHECK(readable(some.between(i)));
  }
  CHECK_FALSE(detail::unguard_pages(some.ranges.data(), many, report.split));
  for (std::size_t i = 0; i < many; ++i) {
    CHECK(some.ranges[i].first[0] == std::byte{0});  // the guard dropped what was there
    CHECK(*some.between(i) == std::byte{0x5a});
  }
}

void check_dropping() {
  pages some(many);
  CHECK_FALSE(detail::discard_pages(some.ranges.data(), many));
  for (std::size_t i = 0; i < many; ++i) {
    CHECK(some.ranges[i].first[0] == std::byte{0});
    CHECK(*some.between(i) == std::byte{0x5a});
  }
}

void in_child(void (*body)()) {
  auto end = hocket_test::run_in_child([](void* f) { (*static_cast<void (**)()>(f))(); }, &body);
  CHECK_MESSAGE(end.how == "the body returned", end.errors);
}

}  // namespace

TEST_CASE("dropped pages are zero, their neighbours are not") { check_dropping(); }

TEST_CASE("guarded pages fault, and are zero when the guard is gone; their neighbours never notice") { check_guards(); }

TEST_CASE("nothing to do is done at once") {
  CHECK_FALSE(detail::discard_pages(nullptr, 0));
  CHECK(detail::guard_pages(nullptr, 0).guarded == 0);
  CHECK_FALSE(detail::unguard_pages(nullptr, 0));
}

TEST_CASE("a guard stays when the pages around it are dropped") {
  pages some(2);
  REQUIRE_FALSE(detail::guard_pages(some.ranges.data(), 1).error);
  const detail::memory_range all{some.memory, some.size};
  if (detail::guards_are_markers()) {
    CHECK_FALSE(detail::discard_pages(&all, 1));
    CHECK_FALSE(readable(some.ranges[0].first));
    CHECK(*some.between(0) == std::byte{0});
  }
}

TEST_CASE("a range of several pages is guarded and unguarded as one, again and again") {
  pages some(4);
  const detail::memory_range all{some.memory, some.size};
  for (int round = 0; round < 3; ++round) {
    detail::guard_report report = detail::guard_pages(&all, 1);
    REQUIRE_FALSE(report.error);
    for (std::size_t at = 0; at < some.size; at += detail::page_size()) CHECK_FALSE(readable(some.memory + at));
    REQUIRE_FALSE(detail::unguard_pages(&all, 1, report.split));
    std::memset(some.memory, 1, some.size);
  }
}

TEST_CASE("a kernel that takes one range at a time, and one without markers, do the same") {
  in_child([] {
    detail::refuse_vectored_advice();
    check_guards();
    check_dropping();
    detail::refuse_guard_markers();
    check_guards();
  });
}

TEST_CASE("an emulator that says yes and guards nothing is found out") {
  CHECK_FALSE(detail::guard_trial_finds([](detail::memory_range) noexcept { return true; }));
  CHECK_FALSE(detail::guard_trial_finds([](detail::memory_range) noexcept { return false; }));
}
