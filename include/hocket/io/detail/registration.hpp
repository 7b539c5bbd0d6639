// One driver watches one descriptor, for one group.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class io_driver;
class open_descriptor;

struct registration : list_node {
  explicit registration(open_descriptor& watched) noexcept : record(watched) {}

  open_descriptor& record;
  io_driver* at = nullptr;      // alive while it is not null
  const void* group = nullptr;  // src/io/place.hpp
  std::uint32_t forks = 0;      // forks_so_far() when it began: the driver of a parent is the parent's
  registration* next = nullptr;
};

}}}  // namespace hocket::detail
