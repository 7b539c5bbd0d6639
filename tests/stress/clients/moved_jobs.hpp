// Jobs that workers take by BLMOVE from the list "jobs" into a list of each worker: none is lost.
//
// A worker handles the job that it got, and then removes it from its list. If its wait ends before the answer, the job
// is in the list of the worker, or still in "jobs". So at the end each job is in exactly one list, or was handled. It
// is handled once at most.
//
// Thread safety. Any thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <doctest/doctest.h>
#include <mutex>
#include <string>
#include <vector>

namespace hocket_test {

class moved_jobs {
 public:
  static std::string list_of(std::uint32_t worker) { return "jobs:" + std::to_string(worker); }

  // The name of a new job.
  std::string create() {
    const std::lock_guard lock(mutex_);
    handled_.push_back(false);
    return std::to_string(handled_.size() - 1);
  }
  // False: there is no such job, or it was handled before.
  bool handle(const std::string& job) {
    const std::lock_guard lock(mutex_);
    const std::size_t number = number_of(job);
    if (number >= handled_.size() || handled_[number]) return false;
    return handled_[number] = true;
  }
  // `listed`: the names in all lists.
  void check(const std::vector<std::string>& listed) {
    const std::lock_guard lock(mutex_);
    std::vector<unsigned> copies(handled_.size());
    for (const std::string& job : listed) {
      REQUIRE(number_of(job) < copies.size());
      ++copies[number_of(job)];
    }
    std::size_t lost = 0, doubled = 0, handled = 0;
    for (std::size_t job = 0; job != copies.size(); ++job) {
      lost += copies[job] == 0 && !handled_[job];
      doubled += copies[job] > 1;
      handled += handled_[job];
    }
    MESSAGE(copies.size(), " jobs: ", handled, " handled, ", listed.size(), " in lists, ", lost, " lost");
    CHECK(lost == 0);
    CHECK(doubled == 0);
    CHECK(handled > 0);
  }

 private:
  static std::size_t number_of(const std::string& job) {
    const bool is_number = !job.empty() && job.size() < 19 && job.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? std::stoul(job) : SIZE_MAX;
  }

  std::mutex mutex_;
  std::vector<bool> handled_;  // guarded by mutex_; its index is the name of the job
};

}  // namespace hocket_test
