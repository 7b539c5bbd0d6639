#include <hocket/base/seam/platform/sized_delete.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/io/detail/lending.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail::lending {

namespace {

constexpr std::size_t large = sizeof(lent_block) + most_bytes;
constexpr std::size_t small = 4096;  // bytes that fit into a block of this size are copied

// Holds the large block of a thread until the thread ends.
struct lender : thread_exit_hook {
  lent_block* block = nullptr;
};

// The content of the slot of a thread that has ended.
constinit char no_lender = 0;

lender* own_lender() noexcept {
  void* const located = in_current_slot<thread_slot::lender>();
  return located == &no_lender ? nullptr : static_cast<lender*>(located);
}

void delete_block(lent_block* block) noexcept { sized_delete(block, large); }

void end_lender(thread_exit_hook& self) noexcept {
  set_current_slot(thread_slot::lender, &no_lender);
  auto& ended = static_cast<lender&>(self);
  if (ended.block) delete_block(ended.block);
  delete &ended;
}

// Null: there is no memory, or the thread has ended.
lender* lender_here() noexcept {
  if (lender* const own = own_lender()) return own;
  if (in_current_slot<thread_slot::lender>() == &no_lender) return nullptr;
  auto* const created = new (std::nothrow) lender{{&end_lender}};
  if (!created) return nullptr;
  if (!at_thread_exit(*created)) {
    delete created;
    return nullptr;
  }
  set_current_slot(thread_slot::lender, created);
  return created;
}

lent_block* take_large() noexcept {
  lender* const own = lender_here();
  if (own && own->block) return std::exchange(own->block, nullptr);
  void* const memory = ::operator new(large, std::nothrow);
  return memory ? ::new (memory) lent_block{large, nullptr} : nullptr;
}

void return_large(lent_block* block) noexcept {
  lender* const own = own_lender();
  if (!own || own->block) return delete_block(block);
  own->block = block;
}

// Null: there is no memory.
lent_block* copy_of(lent_block& original, std::size_t bytes) noexcept try {
  const std::size_t size = sizeof(lent_block) + bytes;
  auto* const copy = ::new (allocate_frame(size)) lent_block{size, nullptr};
  std::memcpy(copy->bytes(), original.bytes(), bytes);
  return copy;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Returns the block to lend: a small copy if possible, else the large block itself.
lent_block& shrink_to_fit(lent_block& large_block, std::size_t bytes) noexcept {
  lent_block* const copy = sizeof(lent_block) + bytes <= small ? copy_of(large_block, bytes) : nullptr;
  if (!copy) return large_block;
  return_large(&large_block);
  return *copy;
}

void count([[maybe_unused]] lent_block& lent, [[maybe_unused]] open_descriptor& record) noexcept {
  if constexpr (debug_checks) {
    lent.count = &record.lent;
    // ORDER: relaxed, pairs with nothing: a count for a notice.
    lent.count->fetch_add(1, std::memory_order_relaxed);
  }
}

// A read moved nothing. An idle read ends, if its connection is to end when idle.
call_end end_of(open_descriptor& record, transfer& operation, call_end cause) noexcept {
  if (cause != call_end::blocks || operation.idle == 0 || !record.ends_when_idle()) return cause;
  record.record_end(stream_end::idle);
  operation.ended = true;
  return call_end::drained;
}

}  // namespace

call_end lend(open_descriptor& record, transfer& operation, read_call read) noexcept {
  lent_block* const block = take_large();
  if (!block) {
    operation.fail(ENOMEM);
    return call_end::done;
  }
  operation.data = block->bytes();
  operation.size = most_bytes;
  const call_end cause = read(record, operation);
  operation.data = nullptr;
  if (operation.done == 0) {
    return_large(block);
    return end_of(record, operation, cause);
  }
  lent_block& lent = shrink_to_fit(*block, operation.done);
  count(lent, record);
  operation.data = &lent;
  return cause;
}

call_end discard(open_descriptor& record, transfer& operation, read_call read) noexcept {
  lent_block* const block = take_large();
  if (!block) {
    operation.fail(ENOMEM);
    return call_end::done;
  }
  transfer part(*operation.side, call_kind::read, block->bytes(), most_bytes);
  const call_end cause = read(record, part);
  return_large(block);
  operation.done += part.done;
  if (part.ended == 0) return cause;
  if (part.error != 0) operation.fail(part.error);
  if (part.done == 0) operation.ended = true;
  if (operation.ended != 0) return call_end::done;
  return cause == call_end::drained ? call_end::blocks : call_end::more;
}

void give_back(lent_block& block) noexcept {
  if constexpr (debug_checks) {
    // ORDER: relaxed, pairs with nothing: a count for a notice.
    block.count->fetch_sub(1, std::memory_order_relaxed);
  }
  if (block.size == large) return_large(&block);
  else release_frame(&block, block.size);
}

}}}  // namespace hocket::detail::lending
