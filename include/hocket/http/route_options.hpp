// Options of a route.
//
//   routes.post("/upload", {.body = http::streamed}, store);
//   routes.get("/report", {.run = http::in_fiber}, report);    // include <hocket/fiber/spawn.hpp>
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/spawn_options.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// How a handler receives the body of a request.
enum class body_kind : std::uint8_t {
  whole,     // read before the handler is called: request::body()
  streamed,  // read by the handler: request::stream()
};
// The values of route_options::body.
inline constexpr body_kind whole = body_kind::whole;
// See whole.
inline constexpr body_kind streamed = body_kind::streamed;

// The type of in_fiber. It has no default, so options without `.run` are route_options.
class run_in_fiber {
 public:
  explicit constexpr run_in_fiber(std::nullptr_t) noexcept {}
};
// The handler runs as a fiber: any function that it calls may wait by await().
inline constexpr run_in_fiber in_fiber{nullptr};

// Options of a route with a plain function or a function that returns a task as its handler.
struct route_options {
  body_kind body = whole;
  // The limit of a body in bytes, whole or streamed; a larger body is answered with 413. The read of a streamed body
  // that exceeds it fails with http::errc::payload_too_large. 0: the server's limit, 1 MB unless it is changed.
  std::size_t max_body = 0;
  // The handler's deadline, from its start. Then its waits end with deadline_exceeded, which is answered with 504. A
  // plain function does not wait, so it has no deadline. It does not limit the function of a stream_body() or
  // event_stream(), which runs after the handler: limit its own waits by within().
  duration within = duration::max();
};
static_assert(hocket::detail::owns_nothing<route_options>);

// Options of a route with a handler that runs as a fiber.
struct fiber_route_options {
  run_in_fiber run;
  body_kind body = whole;
  std::size_t max_body = 0;
  duration within = duration::max();
  // The fiber's name, stack and time until hibernation.
  spawn_options fiber{.name = "http handler", .location = {}};
};
static_assert(hocket::detail::owns_nothing<fiber_route_options>);

}}}  // namespace hocket::http
