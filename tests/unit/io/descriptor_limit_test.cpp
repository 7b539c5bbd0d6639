// The limit of descriptors, in children: it is raised once in a process.
#include <hocket/io/detail/descriptor_limit.hpp>
#include <hocket/io/seam/descriptor_table.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

using namespace hocket;
using namespace hocket_test;

namespace {

rlimit limit_of_descriptors() {
  rlimit present{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &present) == 0);
  return present;
}

void set_soft_limit(rlim_t soft) {
  const rlimit changed{soft, limit_of_descriptors().rlim_max};
  CHECK(::setrlimit(RLIMIT_NOFILE, &changed) == 0);
}

}  // namespace

TEST_CASE("the limit of descriptors is raised to the hard one, and the old one is for children") {
  expect_return([] {
    set_soft_limit(100);
    CHECK(detail::soft_limit_to_inherit() == 0);
    detail::raise_descriptor_limit();
    CHECK(limit_of_descriptors().rlim_cur == limit_of_descriptors().rlim_max);
    CHECK(detail::soft_limit_to_inherit() == 100);
    detail::raise_descriptor_limit();
    CHECK(detail::soft_limit_to_inherit() == 100);
  });
}

TEST_CASE("a limit of descriptors that the program sets itself later is also for children, and stays") {
  expect_return([] {
    set_soft_limit(100);
    detail::raise_descriptor_limit();
    set_soft_limit(200);
    CHECK(detail::soft_limit_to_inherit() == 0);
    detail::raise_descriptor_limit();
    CHECK(limit_of_descriptors().rlim_cur == 200);
  });
}

TEST_CASE("a limit of descriptors that is as high as it may be is inherited as it is") {
  expect_return([] {
    const rlimit both{100, 100};
    CHECK(::setrlimit(RLIMIT_NOFILE, &both) == 0);
    detail::raise_descriptor_limit();
    CHECK(limit_of_descriptors().rlim_cur == 100);
    CHECK(detail::soft_limit_to_inherit() == 0);
  });
}
