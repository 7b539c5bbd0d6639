// Native mode: the control block's own address is the handle.
#include "fiber/entry.hpp"

#include <hocket/fiber/detail/fiber_life.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>

#include "fiber/migration.hpp"
#include "fiber/resume_scheduled.hpp"

// context/<architecture>/frame_stubs.S: entered through the frame's first two words, tail-jump to the functions below.
// They must be assembly: a compiler that sees a C++ body there may call it under its private convention.
extern "C" {
void hocket_raw_resume(void* frame);
void hocket_scheduled_resume(void* frame);
void hocket_migratable_resume(void* frame);
void hocket_frame_destroy(void* frame);
void hocket_start_resume(void* frame);
}

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit const frame_head raw_entry_points{&hocket_raw_resume, &hocket_frame_destroy};
constinit const frame_head scheduled_entry_points{&hocket_scheduled_resume, &hocket_frame_destroy};
constinit const frame_head migratable_entry_points{&hocket_migratable_resume, &hocket_frame_destroy};

std::coroutine_handle<> release_fiber(control_block& block) {
  if (!block.record) report_bad_resume(block);
  return handle_of(block.head);
}

std::coroutine_handle<> scheduled_fiber::start_handle() {
  start_ = {{&hocket_start_resume, &hocket_frame_destroy}, this};
  return handle_of(start_.head);
}

namespace {

// The worker's part of a scheduled fiber's run, from its resume until it parks.
void run(control_block& first) noexcept {
  auto [block, sent] = resume_scheduled(first);
  if (sent == block) [[likely]]
    return;
  while (sent) {
    const std::coroutine_handle<> own = handle_of(block->head);
    auto& request = *static_cast<park_request*>(sent);
    std::coroutine_handle<> next = request.commit(request, with_header(own));
    if (!next) return;
    if (next != own) return next.resume();  // as a task transfers to the awaited one
    auto [parked, again] = resume_scheduled(*block);
    if (again == parked) return;
    block = parked;
    sent = again;
  }
  scheduled_fiber::from_block(*block).conclude();
}

}  // namespace

}}}  // namespace hocket::detail

extern "C" void hocket_start_fiber(void* frame) noexcept {
  using namespace hocket::detail;
  start_frame& start = *static_cast<start_frame*>(frame);
  using preparation = scheduled_fiber::preparation;
  preparation outcome = start.fiber->prepare();
  while (outcome == preparation::waits) [[unlikely]] {
    if (start.fiber->wait_for_stack(handle_of(start.head))) return;
    outcome = start.fiber->prepare();
  }
  if (outcome == preparation::done) run(*start.fiber->block());
  else start.fiber->conclude();
}

extern "C" void hocket_resume_raw(void* frame) {
  using namespace hocket::detail;
  auto& block = *static_cast<control_block*>(frame);
  if (!block.record || block.thread().id != machine::thread_id()) report_bad_resume(block);
  enter(block, block.thread(), empty_message(block));
  if (block.finished()) rethrow_error(fiber_record::from_block(block));
}

extern "C" void hocket_resume_scheduled(void* frame) noexcept {
  using namespace hocket::detail;
  run(*static_cast<control_block*>(frame));
}

extern "C" void hocket_resume_migratable(void* frame) noexcept {
  using namespace hocket::detail;
  auto& block = *static_cast<control_block*>(frame);
  if (move_to_this_thread(block)) run(block);
  else scheduled_fiber::from_block(block).activity().post_again(handle_of(block.head));
}

extern "C" void hocket_destroy_fiber(void* frame) noexcept {
  using namespace hocket::detail;
  destroy_fiber(*static_cast<control_block*>(frame));
}
