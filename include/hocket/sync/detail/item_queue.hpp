// The items of a channel, first in, first out, in memory of the channel: a ring with a fixed number of places, or
// blocks that are allocated on demand. Not synchronised.
//
//   head_block_ -> ... -> tail_block_ -> null        push() writes at tail_, pop() reads at head_; one emptied block
//        head_                tail_                  is the spare, the others are freed
//
// A ring is one block: head_ and tail_ wrap to its beginning. An unbounded queue that is empty at the end of its block
// starts there again, so a queue that is often empty stays in one block. While a memory_source is set, there is no
// spare.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/memory_source.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class T>
class item_queue {
 public:
  static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

  // A possible number of places (places.hpp), or no_limit: unbounded. Throws bad_alloc.
  explicit item_queue(std::size_t places) : places_(places) {
    if (places == 0 || places == no_limit) return;
    block* ring = make_block(places);
    if (!ring) throw std::bad_alloc();
    begin_with(*ring);
  }
  item_queue(const item_queue&) = delete;
  item_queue& operator=(const item_queue&) = delete;
  ~item_queue() {
    while (size_ != 0) pop();
    free_block(spare_);
    free_block(head_block_);
  }

  std::size_t places() const noexcept { return places_; }
  std::size_t size() const noexcept { return size_; }
  bool full() const noexcept { return size_ == places_; }

  // Before each push; the queue is not full. False: there is no memory.
  [[nodiscard]] bool reserve_place() noexcept { return tail_ != tail_end_ || reserve_block(); }

  template <class U>
  void push(U&& item) noexcept {
    ::new (static_cast<void*>(tail_)) T(std::forward<U>(item));
    ++tail_;
    ++size_;
  }
  T& front() noexcept { return *head_; }
  void pop() noexcept {
    head_->~T();
    --size_;
    if (++head_ == head_end_) leave_block();
  }

 private:
  struct block {
    block* next;
    std::size_t places;
  };
  static constexpr std::size_t alignment = alignof(block) > alignof(T) ? alignof(block) : alignof(T);
  static constexpr std::size_t offset = (sizeof(block) + alignment - 1) / alignment * alignment;
  static constexpr std::size_t places_of_block = sizeof(T) <= 256 ? 4096 / sizeof(T) : 16;

  static constexpr std::size_t bytes_of_block(std::size_t places) noexcept { return offset + places * sizeof(T); }
  static block* make_block(std::size_t places) noexcept {
    void* memory = source_allocate(bytes_of_block(places), alignment);
    return memory ? ::new (memory) block{nullptr, places} : nullptr;
  }
  static void free_block(block* old) noexcept {
    if (old) source_release(old, bytes_of_block(old->places), alignment);
  }
  static T* first_of(block& header) noexcept {
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(&header) + offset);
  }

  void set_head(block& next) noexcept {
    head_block_ = &next;
    head_ = first_of(next);
    head_end_ = head_ + next.places;
  }
  void set_tail(block& next) noexcept {
    tail_block_ = &next;
    tail_ = first_of(next);
    tail_end_ = tail_ + next.places;
  }
  void begin_with(block& first) noexcept {
    set_head(first);
    set_tail(first);
  }

  [[HOCKET_NOINLINE]] bool reserve_block() noexcept {
    if (places_ != no_limit) {
      set_tail(*tail_block_);
      return true;
    }
    block* added = spare_ ? std::exchange(spare_, nullptr) : make_block(places_of_block);
    if (!added) return false;
    added->next = nullptr;
    if (!tail_block_) {
      begin_with(*added);
      return true;
    }
    tail_block_->next = added;
    set_tail(*added);
    return true;
  }
  [[HOCKET_NOINLINE]] void leave_block() noexcept {
    block* const old = head_block_;
    if (places_ != no_limit) return set_head(*old);
    if (!old->next) return begin_with(*old);  // it is the last block, and empty
    set_head(*old->next);
    if (!keeps_released_memory()) return free_block(old);
    free_block(spare_);
    spare_ = old;
  }

  const std::size_t places_;
  std::size_t size_ = 0;
  T* head_ = nullptr;
  T* head_end_ = nullptr;
  T* tail_ = nullptr;
  T* tail_end_ = nullptr;
  block* head_block_ = nullptr;
  block* tail_block_ = nullptr;
  block* spare_ = nullptr;
};

}}}  // namespace hocket::detail
