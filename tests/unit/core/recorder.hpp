// An observer that keeps what it was told. Any thread.
#pragma once
#include <hocket/core/observer.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace hocket_test {

class recorder final : public hocket::observer {
 public:
  struct event {
    std::string what;
    const void* frame;
    const void* detail = nullptr;  // the context that a coroutine was created with, the source that it waits for
  };

  recorder() { outer_ = hocket::install_observer(this); }
  ~recorder() { hocket::install_observer(outer_); }

  void created(const void* frame, const hocket::context& ctx) noexcept override { keep({"created", frame, &ctx}); }
  void suspended(const void* frame, const void* source) noexcept override { keep({"suspended", frame, source}); }
  void woken(const void* frame) noexcept override { keep({"woken", frame}); }
  void destroyed(const void* frame) noexcept override { keep({"destroyed", frame}); }

  std::vector<event> events() const {
    std::lock_guard guard(mutex_);
    return events_;
  }
  // What it was told, in order; of one coroutine, if it is named.
  std::vector<std::string> told(const void* frame = nullptr) const {
    std::vector<std::string> found;
    for (const event& one : events())
      if (!frame || one.frame == frame) found.push_back(one.what);
    return found;
  }

 private:
  void keep(event&& one) {
    std::lock_guard guard(mutex_);
    events_.push_back(std::move(one));
  }

  hocket::observer* outer_;
  mutable std::mutex mutex_;
  std::vector<event> events_;
};

using list_of = std::vector<std::string>;

}  // namespace hocket_test
