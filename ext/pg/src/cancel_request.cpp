#include "cancel_request.hpp"

#include <hocket/runtime/seam/detached_threads.hpp>

#include <array>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

using cancel_key = std::unique_ptr<PGcancel, decltype(&PQfreeCancel)>;

class cancel_job final : public detached_threads::job {
 public:
  cancel_job(cancel_key key, oneshot_sender<void> end) noexcept : key_(std::move(key)), end_(std::move(end)) {}
  void run() noexcept override {
    std::array<char, 256> text;
    static_cast<void>(PQcancel(key_.get(), text.data(), static_cast<int>(text.size())));
    end_.send();
  }

 private:
  const cancel_key key_;
  oneshot_sender<void> end_;
};

constinit detached_threads cancel_threads({.threads = 4, .queue = 0, .name = "cancel"});

}  // namespace

oneshot_receiver<void> post_cancel_request(PGconn* handle) noexcept {
  try {
    cancel_key key(PQgetCancel(handle), &PQfreeCancel);
    if (!key) return {};
    auto [sender, receiver] = make_oneshot<void>();
    if (!cancel_threads.post(std::make_unique<cancel_job>(std::move(key), std::move(sender)))) return {};
    return std::move(receiver);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}}}  // namespace hocket::detail
