// Messages, as the backends see them: datagrams, in batches. A batch is an array of objects that have a message at
// their beginning.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct message {
  void* data = nullptr;
  std::size_t size = 0;          // received: how much there is room for; sent: how much there is
  std::size_t moved = 0;         // how many bytes were received or sent
  void* address = nullptr;       // where the sender's address goes, or the receiver's stands; null: none
  std::size_t address_size = 0;  // received: first how much there is room for
  std::size_t cut = 0;           // the message was longer than `size`
};

struct message_batch {
  void* first;
  std::size_t stride;  // of the objects
  std::size_t count;

  message& operator[](std::size_t index) const noexcept {
    return *static_cast<message*>(static_cast<void*>(static_cast<std::byte*>(first) + index * stride));
  }
};

}}}  // namespace hocket::detail
