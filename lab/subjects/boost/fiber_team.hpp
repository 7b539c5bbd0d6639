#pragma once
// Boost.Fiber on as many threads as workers. One worker is the thread with the scheduler round_robin (the default);
// several are as many threads with work_stealing, which looks for work all the time (its default).
#include <boost/fiber/algo/work_stealing.hpp>
#include <boost/fiber/all.hpp>

#include <mutex>
#include <thread>

#include "fiber_event.hpp"
#include "harness.hpp"

namespace lab {

// The threads beside the first one. They never end: the process does.
inline void start_others(std::size_t workers) {
  namespace fibers = boost::fibers;
  if (workers == 1) return;
  for (std::size_t i = 1; i < workers; ++i) {
    std::thread([workers] {
      fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(static_cast<std::uint32_t>(workers));
      fibers::mutex never;
      fibers::condition_variable nobody;
      std::unique_lock held{never};
      nobody.wait(held, [] { return false; });
    }).detach();
  }
  fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(static_cast<std::uint32_t>(workers));
}

}  // namespace lab
