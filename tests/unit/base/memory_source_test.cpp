// When a memory_source can be set. In children of a process that has allocated nothing by hocket.
#include <hocket/base/memory_source.hpp>

#include "support/death.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

std::size_t allocated = 0, released = 0;  // bytes

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  allocated += bytes;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void release(void* memory, std::size_t bytes, std::size_t) noexcept {
  released += bytes;
  std::free(memory);
}
constexpr memory_source counted{&allocate, &release};

void check_refused(const memory_source& source, const char* why) {
  std::string told;
  try {
    set_memory_source(source);
  } catch (const std::logic_error& error) {
    told = error.what();
  }
  CHECK(told == why);
}

constexpr std::size_t line = 64;

struct object : detail::from_memory_source {
  char bytes[100];
};
struct alignas(line) wide_object : detail::from_memory_source {
  char bytes[100];
};

void allocate_and_release() {
  delete new object;
  delete new wide_object;
  detail::source_release(detail::source_allocate(1000, line), 1000, line);
}

}  // namespace

TEST_CASE("what is allocated comes from the source and goes back there, with the same numbers") {
  const child_end end = end_of_child([] {
    set_memory_source(counted);
    allocate_and_release();
    CHECK(allocated == sizeof(object) + sizeof(wide_object) + 1000);
    CHECK(released == allocated);
    CHECK_FALSE(detail::keeps_released_memory());
  });
  CHECK(end.how == "the body returned");
}

TEST_CASE("without a source memory comes from the heap") {
  const child_end end = end_of_child([] {
    void* const memory = detail::source_allocate(1000, line);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % line == 0);
    detail::source_release(memory, 1000, line);
    allocate_and_release();
    CHECK(detail::keeps_released_memory());
    CHECK(allocated == 0);
  });
  CHECK(end.how == "the body returned");
}

TEST_CASE("a source is refused that has not both functions, and one with both can be set then") {
  const child_end end = end_of_child([] {
    constexpr auto why = "hocket: a memory_source has two functions: give it allocate and release";
    check_refused({}, why);
    check_refused({.allocate = &allocate}, why);
    check_refused({.release = &release}, why);
    set_memory_source(counted);
  });
  CHECK(end.how == "the body returned");
}

TEST_CASE("a second source is refused, and the first one stays") {
  const child_end end = end_of_child([] {
    set_memory_source(counted);
    check_refused(counted, "hocket: a memory_source is set already: set one for the whole process");
    allocate_and_release();
    check_refused(counted, "hocket: a memory_source is set already: set one for the whole process");
    CHECK(allocated != 0);
  });
  CHECK(end.how == "the body returned");
}

TEST_CASE("a source is refused after an allocation, or after memory was kept") {
  constexpr auto why =
      "hocket: a memory_source was set too late: set it before the first coroutine and channel are made";
  const child_end allocates = end_of_child([] {
    delete new object;
    check_refused(counted, why);
    check_refused(counted, why);
    allocate_and_release();
    CHECK(allocated == 0);
  });
  CHECK(allocates.how == "the body returned");
  const child_end keeps = end_of_child([] {
    CHECK(detail::keeps_released_memory());
    check_refused(counted, why);
  });
  CHECK(keeps.how == "the body returned");
}
