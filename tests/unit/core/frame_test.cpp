#include <hocket/core/thread/seam/frame.hpp>

#include "unit/core/script.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

script idle() { co_return; }

struct hand_made {
  detail::frame_head head;
  detail::coroutine_header header;
  int resumed = 0;
  bool destroyed = false;
};

struct over_aligned : detail::coroutine_header {
  alignas(64) char line[64];
};
struct headless {};

static_assert(detail::has_header<script::promise_type>);
static_assert(!detail::has_header<headless>);
static_assert(!detail::has_header<over_aligned>, "the compiler would put such a promise elsewhere");
static_assert(sizeof(detail::coroutine_header) + sizeof(detail::frame_head) <= 64,
              "head and header share a cache line");

}  // namespace

TEST_CASE("header_of finds the header in the frame of a coroutine, by the erased handle") {
  auto body = idle();
  std::coroutine_handle<> erased = body.handle();
  CHECK(&detail::header_of(erased) == static_cast<detail::coroutine_header*>(&body.handle().promise()));
  CHECK(detail::header_of(erased).kind == detail::coroutine_kind::root);
}

TEST_CASE("a hand-made frame behaves as a coroutine: resume, done, destroy, header") {
  hand_made frame;
  frame.head.resume = [](void* self) {
    auto& it = *static_cast<hand_made*>(self);
    if (++it.resumed == 2) it.head.resume = nullptr;
  };
  frame.head.destroy = [](void* self) { static_cast<hand_made*>(self)->destroyed = true; };
  frame.header.kind = detail::coroutine_kind::fiber;
  auto handle = detail::handle_of(frame.head);
  CHECK(handle.address() == &frame);
  CHECK(&detail::header_of(handle) == &frame.header);
  CHECK_FALSE(handle.done());
  handle.resume();
  CHECK_FALSE(handle.done());
  handle.resume();
  CHECK(handle.done());
  CHECK(frame.resumed == 2);
  handle.destroy();
  CHECK(frame.destroyed);
}

TEST_CASE("a coroutine's frame begins with resume and destroy, and resume is null when it is done") {
  stepped_executor on;
  auto body = idle();
  auto& head = *static_cast<detail::frame_head*>(body.handle().address());
  CHECK(bool(head.resume));
  CHECK(bool(head.destroy));
  body.start(on);
  on.run();
  CHECK(body.done());
  CHECK_FALSE(bool(head.resume));
}
