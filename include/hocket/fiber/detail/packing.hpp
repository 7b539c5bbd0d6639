// Packing: saves the stack of a parked fiber as an image (stack/seam/stack_image.hpp), so that its memory can be used
// otherwise.
//
//   hibernated   the fiber has been parked for long: the pages of its stack are released to the system, and the pages
//                of its frames fault
//   copied       the fiber shares one stack with others of its pool, and another one is about to run there
//
//   state       control_block::record     its frames        its fiber_record
//   resident    its parked record         on its stack      at the top of its stack
//   packed      its stack_image           in the image      in the image, at the same distance from the top
//
// A packed fiber behaves like a parked one: it can be woken, killed and destroyed. Its resume and its destruction
// unpack it first (fiber_flag::idle is one of the rare cases that a resume tests together). All of this is done on the
// fiber's own thread, while it is parked, off its stack.
//
// Hazard: if another thread writes to a stack that is not resident, then it writes to pages that fault, or to another
// fiber. Prevented by memory off the stack: if a stack moves, the awaiter of a wait is built elsewhere
// (fiber/await.hpp). If an awaiter nevertheless refers to the stack (the primitive is a local, or a buffer), a search
// of its words finds that: then a stack that hibernates stays in place for that wait, and on a copied stack it is
// fatal. A pointer that the program itself passed to another thread cannot be found: it faults on a hibernated stack,
// and on a copied one it reaches the variables of another fiber.
//
// Never packed: a fiber that waits inside a call_on_stack (it has two stacks; on a copied stack the part below the call
// is saved), a fiber with more than `largest_image` bytes, and a fiber with a pinned stack (which contains a scope).
#pragma once
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <hocket/stack/seam/stack_image.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline bool is_packed(const control_block& block) noexcept { return block.header.reserved & stack_bit::packed; }

// Hibernates fibers of the calling thread, 64 with two system calls. The fibers must not run before flush().
class packing_batch {
 public:
  static constexpr std::size_t largest_image = 16 * 1024;

  packing_batch() noexcept = default;
  packing_batch(const packing_batch&) = delete;
  packing_batch& operator=(const packing_batch&) = delete;
  ~packing_batch() { flush(); }

  // False: the fiber is running or finished, packed already, or cannot be packed (see above), or there is no memory.
  bool add(control_block& block) noexcept;

  void flush() noexcept;

 private:
  static constexpr std::size_t capacity = 64;
  std::size_t count_ = 0;
  control_block* blocks_[capacity];
  memory_range pages_[capacity];
};

// Called before a new fiber is created on a copied stack: saves the present frames, and assigns the stack to the cell's
// owner. False: there is no memory. Fatal if the caller runs on it.
[[nodiscard]] bool take_copied_stack(void* cell) noexcept;

// Called when a fiber on a copied stack has ended, or was given up.
void leave_copied_stack(fiber_record& record) noexcept;

// Restores the frames of a packed fiber. Called before its owner resumes or destroys it.
void unpack(control_block& block) noexcept;

// Keeps the stack of the running scheduled fiber in place until unpin(). Fatal for a copied stack: `subject` lies on
// it.
scheduled_fiber* pin_stack(control_block& fiber, const char* subject) noexcept;

// Whether a word in [data, data + size) is an address on the fiber's stack.
bool refers_to_stack(const void* data, std::size_t size, control_block& block) noexcept;

}}}  // namespace hocket::detail
