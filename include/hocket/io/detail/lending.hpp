// Blocks of memory that are lent to a reader while there are bytes: what read_borrowed() is made of.
//
// Each thread has one large block into which it reads. So hundreds of connections that have bytes at a time use the
// same lines of the cache. A few bytes are then copied into a small block, from the memory of frames. If there are
// many, the large block itself is lent, and the thread takes another one.
//
// Hazard: after the call of the system there must be a place for the bytes, also if there is no memory. So the large
// block is there before the call, and is lent if no small one can be had.
//
// lend() and discard() are for backends (backend.hpp).
//
// Access. lend(), discard(): the party that has the direction's word. give_back(): any thread.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/io/seam/transfer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor;

struct lent_block {
  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

  std::size_t size;  // with this header
  // At check level `debug`: how many blocks are lent from a descriptor, in memory that is never given back.
  primitive::atomic<std::uint32_t>* count;
};

namespace lending {

// The most that is lent at once.
inline constexpr std::size_t most_bytes = std::size_t{16} * 1024;

void give_back(lent_block& block) noexcept;

}  // namespace lending

}}}  // namespace hocket::detail
