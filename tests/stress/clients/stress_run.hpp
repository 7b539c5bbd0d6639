// A stress run of a client: its seed, its length, its requests, and the judge of their answers.
//
// HOCKET_STRESS_REQUESTS is the number of requests, else HOCKET_STRESS_SECONDS the time; with neither, 3000 requests.
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
//
// Each request carries a token, and its right answer is that token. The run counts
//
//   answered    an answer has arrived
//   wrong       the answer is not the token: it belongs to another request
//   ended       no answer: a limit, a stop, or the end of the session at the server
//   unexpected  an error that no disturbance explains, for example the cancel of another request
//   killed      the worker was killed before it knew the end
//
// Lateness. If a limit ends a wait, the run records by how much time the worker continues after the limit.
//
// Thread safety. Any thread, but report(): after the workers have ended.
#pragma once
#include <hocket/base/random.hpp>
#include <hocket/base/result.hpp>
#include <hocket/pool/connection_pool.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

namespace hocket_test {

using hocket::detail::random_engine;

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct stress_request {
  std::uint32_t worker;  // its number
  std::uint32_t kind;    // the client chooses the form of the request by it
  std::string token;     // the right answer
  hocket::duration limit;
  std::chrono::steady_clock::time_point begin;
};

// Whether an error is an end of the wait, or of the session at the server.
inline bool is_end_of_request(std::error_code error) noexcept {
  return error == std::errc::timed_out || error == std::errc::operation_canceled ||
         error == std::errc::connection_reset || error == std::errc::broken_pipe;
}

class stress_run {
  using steady = std::chrono::steady_clock;

 public:
  static constexpr auto long_limit = std::chrono::seconds(5);

  std::uint64_t seed() const noexcept { return seed_; }
  // By the requests that have begun, or by the time.
  bool is_over() const noexcept { return requests_ != 0 ? begun_ >= requests_ : steady::now() >= end_; }
  // Changes while requests end.
  std::uint64_t progress() const noexcept { return answered_ + ended_ + unexpected_; }

  stress_request begin_request(random_engine& random, std::uint32_t worker) {
    ++begun_;
    const hocket::duration limit =
        random.below(3) == 0 ? hocket::duration(std::chrono::microseconds(random.below(1500))) : long_limit;
    return {worker, static_cast<std::uint32_t>(random()), std::to_string(random()), limit, steady::now()};
  }

  void judge(const stress_request& request, const hocket::result<std::string>& answer, bool is_expected) {
    if (answer) {
      ++answered_;
      if (*answer != request.token) record_fault(wrong_, request, *answer);
    } else if (is_expected) {
      ++ended_;
      if (request.limit != long_limit && answer.error() == std::errc::timed_out) record_lateness(request);
    } else {
      record_fault(unexpected_, request, answer.error().message());
    }
  }

  // Prints the counts, and checks that no answer was wrong and no error unexpected.
  void report(const hocket::connection_pool_statistics& pool) {
    const std::uint64_t judged = answered_ + ended_ + unexpected_;
    const std::chrono::duration<double> time = steady::now() - start_;
    MESSAGE("HOCKET_STRESS_SEED=", seed_, ": ", begun_.load(), " requests: ", answered_.load(), " answered, ",
            ended_.load(), " ended, ", begun_ - judged, " killed, ", wrong_.load(), " wrong, ", unexpected_.load(),
            " unexpected; ", pool.connects, " connects, ", pool.drained, " drained, ", pool.dropped, " dropped, ",
            pool.dead, " dead; lateness of ", lateness_.size(), " limits in us: median ", lateness_at(50), ", p99 ",
            lateness_at(99), "; ", time.count(), " s");
    CHECK_MESSAGE(wrong_ == 0, first_fault_);
    CHECK_MESSAGE(unexpected_ == 0, first_fault_);
    CHECK(answered_ > 0);
  }

 private:
  void record_fault(std::atomic<std::uint64_t>& count, const stress_request& request, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (wrong_ == 0 && unexpected_ == 0)
      first_fault_ = "worker " + std::to_string(request.worker) + ", kind " + std::to_string(request.kind) +
                     ", token " + request.token + ": " + text.substr(0, 200);
    ++count;
  }
  void record_lateness(const stress_request& request) {
    const std::chrono::duration<double, std::micro> late = steady::now() - (request.begin + request.limit);
    const std::lock_guard lock(mutex_);
    lateness_.push_back(late.count());
  }
  double lateness_at(std::size_t percent) {
    if (lateness_.empty()) return 0;
    const auto place = lateness_.begin() + static_cast<std::ptrdiff_t>(lateness_.size() * percent / 100);
    std::nth_element(lateness_.begin(), place, lateness_.end());
    return *place;
  }

  const std::uint64_t seed_ = number_from("HOCKET_STRESS_SEED", hocket::detail::random_seed());
  const std::uint64_t seconds_ = number_from("HOCKET_STRESS_SECONDS", 0);
  const std::uint64_t requests_ = number_from("HOCKET_STRESS_REQUESTS", seconds_ == 0 ? 3000 : 0);  // 0: by the time
  const steady::time_point start_ = steady::now();
  const steady::time_point end_ = start_ + std::chrono::seconds(seconds_);
  std::atomic<std::uint64_t> begun_{0}, answered_{0}, wrong_{0}, ended_{0}, unexpected_{0};
  std::mutex mutex_;
  // Guarded by mutex_:
  std::string first_fault_;
  std::vector<double> lateness_;
};

}  // namespace hocket_test
