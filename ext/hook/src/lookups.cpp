#include "lookups.hpp"

#include <hocket/runtime/seam/detached_threads.hpp>

#include "caller.hpp"
#include "counting.hpp"

#include <cerrno>
#include <memory>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Owns a reference.
class lookup::job final : public hocket::detail::detached_threads::job {
 public:
  explicit job(lookup& shared) noexcept : lookup_(shared) {}
  ~job() override {
    lookup_.over_.set();
    lookup_.release();
  }
  void run() noexcept override {
    if (lookup_.is_abandoned()) return;
    lookup_.run();
    lookup_.has_run_ = true;
  }

 private:
  lookup& lookup_;
};

bool lookup::is_abandoned() const noexcept {
  // ORDER: relaxed, pairs with the fetch_sub in release(): a hint, an abandoned lookup may run.
  return references_.load(std::memory_order_relaxed) == 1;
}

void lookup::release() noexcept {
  // ORDER: acq_rel, pairs with itself: the last owner destroys after all others.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool lookup::run_elsewhere() noexcept {
  if (only_tries()) {
    run();
    return true;
  }
  count(counted::pooled);
  std::unique_ptr<job> queued(new (std::nothrow) job(*this));
  if (!queued) {
    errno = ENOMEM;
    return false;
  }
  // ORDER: relaxed, pairs with the fetch_sub in release(): no other thread has this lookup yet.
  references_.store(2, std::memory_order_relaxed);
  if (!hocket::detail::lookup_threads().post(std::move(queued))) {
    errno = EAGAIN;
    return false;
  }
  if (!wait_until_set(over_)) return false;
  if (!has_run_) errno = EAGAIN;
  return has_run_;
}

}}}  // namespace hocket::hook
