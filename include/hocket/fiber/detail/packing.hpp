// Packing: the stack of a parked fiber is saved as an image (stack/seam/stack_image.hpp), and its memory is used
// otherwise.
//
//   hibernated   the fiber has been parked for long: the pages of its stack are given back to the system, and those
//                that held its frames fault
//   copied       the fiber shares one stack with others of its pool, and another one is to run on it
//
//   state       control_block::record     its frames        its fiber_record
//   resident    its parked record         on its stack      at the top of its stack
//   packed      its stack_image           in the image      in the image, at the same distance from the top
//
// A packed fiber looks parked to everybody: it can be woken, killed and destroyed, and whoever resumes or destroys it
// unpacks it first (fiber_flag::idle is one of the rare cases that a resume tests in one go). All of this happens on
// the fiber's own thread, while it is parked, off its stack.
//
// Hazard: *others write to a stack that is not there*. On a stack that moves, what a wait registers with others (its
// awaiter) is built in memory of its own, not on the stack (fiber/await.hpp). An awaiter that refers to the stack all
// the same (the primitive is a local, or a buffer) is found by looking through its words: then a stack that hibernates
// stays where it is for that wait, and on a copied one it is fatal. What nobody can find, a pointer that the program
// handed to another thread, faults on a hibernated stack; on a copied one it meets the variables of another fiber.
//
// Never packed: a fiber that waits inside a call_on_stack (it has two stacks; on a copied stack the part below the call
// is saved), one that keeps more than `largest_image` bytes, and one whose stack is pinned (a scope lives on it).
#pragma once
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <hocket/stack/seam/stack_image.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline bool is_packed(const control_block& block) noexcept { return block.header.reserved & stack_bit::packed; }

// Hibernates fibers of the calling thread, 64 with two system calls. None of them may run before flush().
class packing_batch {
 public:
  static constexpr std::size_t largest_image = 16 * 1024;

  packing_batch() noexcept = default;
  packing_batch(const packing_batch&) = delete;
  packing_batch& operator=(const packing_batch&) = delete;
  ~packing_batch() { flush(); }

  // False: it is running or finished, packed already, or cannot be packed (see above), or there is no memory.
  bool add(control_block& block) noexcept;

  void flush() noexcept;

 private:
  static constexpr std::size_t capacity = 64;
  std::size_t count_ = 0;
  control_block* blocks_[capacity];
  memory_range pages_[capacity];
};

// A new fiber is to be made on a copied stack: whose frames are there now are saved, and the cell's owner has it.
// False: there is no memory. Fatal if the caller runs on it.
[[nodiscard]] bool take_copied_stack(void* cell) noexcept;

// A fiber on a copied stack has ended, or was given up.
void leave_copied_stack(fiber_record& record) noexcept;

// Puts the frames of a packed fiber back where they were. Its owner is about to resume or destroy it.
void unpack(control_block& block) noexcept;

// Keeps the stack of the running scheduled fiber, which moves, where it is; unpin() ends that. Fatal if it is a copied
// one: `what` lies on it.
scheduled_fiber* pin_stack(control_block& fiber, const char* subject) noexcept;

// Whether a word in [data, data + size) is an address on the fiber's stack.
bool refers_to_stack(const void* data, std::size_t size, control_block& block) noexcept;

}}}  // namespace hocket::detail
