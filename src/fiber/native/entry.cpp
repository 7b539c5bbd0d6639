// Native mode: the control block's own address is the handle.
#include "fiber/entry.hpp"

#include <hocket/fiber/fiber_life.hpp>
#include <hocket/fiber/round_trip.hpp>

// context/<architecture>/frame_stubs.S: entered through the frame's first two words, tail-jump to the functions below.
// They must be assembly: a compiler that sees a C++ body there may call it under its private convention.
extern "C" {
void hocket_frame_resume(void* frame);
void hocket_frame_destroy(void* frame);
}

namespace hocket::inline HOCKET_ABI {

constinit const frame_head fiber_entry_points{&hocket_frame_resume, &hocket_frame_destroy};

std::coroutine_handle<> detail::release_fiber(control_block& block) {
  if (!block.record) report_bad_resume(block);
  return handle_of(block.head);
}

}  // namespace hocket::inline HOCKET_ABI

extern "C" void hocket_resume_fiber(void* frame) {
  using namespace hocket;
  auto& block = *static_cast<control_block*>(frame);
  if (!block.record || block.thread().id != machine::thread_id()) detail::report_bad_resume(block);
  fiber_record& record = fiber_record::of(block);
  detail::enter(block, record, detail::empty_message(block));
  if (block.finished()) detail::rethrow_error(record);
}

extern "C" void hocket_destroy_fiber(void* frame) noexcept {
  using namespace hocket;
  detail::destroy_fiber(fiber_record::of(*static_cast<control_block*>(frame)));
}
