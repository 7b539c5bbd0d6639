// The promise behind an expectation: its way into the table of a task manager, and out of it.
#pragma once
#include <hocket/manager/detail/manager_ptr.hpp>
#include <hocket/manager/detail/promise_kind.hpp>
#include <hocket/manager/task_id.hpp>

namespace hocket { inline namespace HOCKET_ABI {

struct expect_options;

namespace detail {

// Takes over the promise, unless it throws. A refused promise has failed already, and has no id.
task_id add_promise(manager_core& core, const promise_kind& kind, void* promise, const expect_options& options);
// Null, and the error, if there is no promise of this kind with this id.
void* take_promise(manager_core& core, task_id id, const promise_kind& kind, std::error_code& error) noexcept;
// By the receiver, which gives the reply up.
void* drop_promise(manager_core& core, task_id id) noexcept;

}  // namespace detail

}}  // namespace hocket
