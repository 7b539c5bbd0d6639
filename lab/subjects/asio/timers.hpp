#pragma once
// The two sources of the subject asio-pool have this in common.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include "scheduler/scheduler.hpp"

namespace lab::asio_pool {

using executor = boost::asio::thread_pool::executor_type;
using coroutine = boost::asio::awaitable<void, executor>;

inline void run(boost::asio::thread_pool& pool, coroutine body) {
  boost::asio::co_spawn(pool.get_executor(), std::move(body), boost::asio::use_future).get();
}

void timer_cancel(const char* system, const load& r);
void timer_cancel_1e6(const char* system, const load& r);
void timer_expire(const char* system, const load& r);
void sleeping(const char* system, const load& r);

}  // namespace lab::asio_pool
