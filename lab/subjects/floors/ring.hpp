#pragma once
// An io_uring by its system calls alone: the two rings in shared memory, and a ring of buffers from which the kernel
// takes one for each read. One thread uses it.
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "net/server.hpp"

namespace lab::net {

inline void* mapped(std::size_t bytes, int fd, off_t offset) {
  const int how = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, how, fd, offset);
  if (at == MAP_FAILED) fail("mmap");
  return at;
}

class ring {
 public:
  static constexpr unsigned submissions = 1024, completions = 32768;

  // Whether the kernel allows it; errno says why not.
  static bool is_allowed() {
    io_uring_params asked{};
    const int fd = set_up(asked);
    if (fd >= 0) close(fd);
    return fd >= 0;
  }

  ring() {
    io_uring_params asked{};
    fd_ = checked(set_up(asked), "io_uring_setup");
    auto* queue =
        static_cast<char*>(mapped(asked.sq_off.array + asked.sq_entries * sizeof(unsigned), fd_, IORING_OFF_SQ_RING));
    auto* done = static_cast<char*>(
        mapped(asked.cq_off.cqes + asked.cq_entries * sizeof(io_uring_cqe), fd_, IORING_OFF_CQ_RING));
    entries_ = static_cast<io_uring_sqe*>(mapped(asked.sq_entries * sizeof(io_uring_sqe), fd_, IORING_OFF_SQES));
    queue_tail_ = reinterpret_cast<unsigned*>(queue + asked.sq_off.tail);
    done_head_ = reinterpret_cast<unsigned*>(done + asked.cq_off.head);
    done_tail_ = reinterpret_cast<unsigned*>(done + asked.cq_off.tail);
    done_ = reinterpret_cast<io_uring_cqe*>(done + asked.cq_off.cqes);
    auto* order = reinterpret_cast<unsigned*>(queue + asked.sq_off.array);
    for (unsigned i = 0; i < submissions; ++i) order[i] = i;
  }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  int number() const { return fd_; }

  // An operation that the next enter() submits.
  io_uring_sqe& next(unsigned char operation, int fd, std::uint64_t tag) {
    if (unsubmitted_ == submissions) enter(0);
    io_uring_sqe& entry = entries_[(*queue_tail_ + unsubmitted_++) % submissions];
    entry = {};
    entry.opcode = operation;
    entry.fd = fd;
    entry.user_data = tag;
    return entry;
  }

  // Submits, waits for so many completions, and hands over all that there are.
  template <class F>
  void turn(F&& completed) {
    enter(1);
    unsigned head = *done_head_;
    const unsigned tail = std::atomic_ref(*done_tail_).load(std::memory_order_acquire);
    for (; head != tail; ++head) completed(done_[head % completions]);
    std::atomic_ref(*done_head_).store(head, std::memory_order_release);
  }

 private:
  static int set_up(io_uring_params& asked) {
    asked.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    asked.cq_entries = completions;
    return static_cast<int>(syscall(SYS_io_uring_setup, submissions, &asked));
  }

  void enter(unsigned wait_for) {
    const unsigned count = unsubmitted_;
    std::atomic_ref(*queue_tail_).store(*queue_tail_ + count, std::memory_order_release);
    unsubmitted_ = 0;
    if (syscall(SYS_io_uring_enter, fd_, count, wait_for, IORING_ENTER_GETEVENTS, nullptr, 0) < 0 && errno != EINTR)
      fail("io_uring_enter");
  }

  int fd_;
  io_uring_sqe* entries_;
  io_uring_cqe* done_;
  unsigned *queue_tail_, *done_head_, *done_tail_;
  unsigned unsubmitted_ = 0;
};

// Buffers of one size that the kernel fills: group 0 of a ring.
class buffer_ring {
 public:
  static constexpr unsigned count = 256;

  buffer_ring(const ring& of, std::size_t size)
      : size_(size),
        bytes_(static_cast<char*>(mapped(count * size, -1, 0))),
        places_(static_cast<io_uring_buf_ring*>(mapped(count * sizeof(io_uring_buf), -1, 0))) {
    io_uring_buf_reg where{};
    where.ring_addr = reinterpret_cast<std::uintptr_t>(places_);
    where.ring_entries = count;
    checked(static_cast<int>(syscall(SYS_io_uring_register, of.number(), IORING_REGISTER_PBUF_RING, &where, 1)),
            "IORING_REGISTER_PBUF_RING");
    for (unsigned i = 0; i < count; ++i) give_back(i);
  }

  char* at(unsigned i) const { return bytes_ + i * size_; }

  void give_back(unsigned i) {
    // The first place holds the tail in its last two bytes, so its other members are written one by one.
    io_uring_buf& place = reinterpret_cast<io_uring_buf*>(places_)[tail_ % count];
    place.addr = reinterpret_cast<std::uintptr_t>(at(i));
    place.len = static_cast<unsigned>(size_);
    place.bid = static_cast<unsigned short>(i);
    std::atomic_ref(places_->tail).store(++tail_, std::memory_order_release);
  }

 private:
  std::size_t size_;
  char* bytes_;
  io_uring_buf_ring* places_;
  unsigned short tail_ = 0;
};

}  // namespace lab::net
