// A write with a mode.
#pragma once
#include <hocket/io/byte_stream.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Op>
struct moded_write : Op {
  template <class... Args>
  explicit moded_write(write_mode mode, Args&&... args) noexcept : Op(std::forward<Args>(args)...) {
    this->more = mode == write_mode::more_follows;
  }
};

}}}  // namespace hocket::detail
