// The steps of a route: the functions before the handler, the handler, and the functions after it.
//
// A route has one object for each step, which all connections share as a const object. A step is *plain*, a task or a
// fiber. A plain step is called in the turn of the connection's coroutine. A task and a fiber are awaited by start().
// The task of a fiber spawns the fiber and joins it.
//
// Errors and exceptions of the user's function leave call() and start() unchanged. The route table turns them into
// responses (route_table.hpp).
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/http/response.hpp>
#include <cstdint>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

class request;

namespace detail {

enum class step_kind : std::uint8_t { plain, task, fiber };

template <class T, class... P>
class step : public hocket::detail::from_memory_source {
 public:
  using value_type = T;

  explicit step(step_kind kind) noexcept : kind_(kind) {}
  step(const step&) = delete;
  step& operator=(const step&) = delete;
  virtual ~step() = default;

  step_kind kind() const noexcept { return kind_; }
  bool is_plain() const noexcept { return kind_ == step_kind::plain; }

  // For a plain step.
  virtual result<T> call(P... parameters) const = 0;
  // For a task or a fiber. `this` and the arguments outlive the task.
  virtual task<result<T>> start(P... parameters) const = 0;

 private:
  const step_kind kind_;
};

using handler = step<response, request&>;
using before_step = step<std::optional<response>, request&>;  // a response ends the chain
using after_step = step<void, request&, response&>;

// Fatal: a connection has called the wrong function of a step.
[[noreturn, HOCKET_COLD]] void report_wrong_step();

}  // namespace detail

}}}  // namespace hocket::http
