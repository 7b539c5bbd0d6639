#include <hocket/io/detail/name_lookup.hpp>

#include <hocket/base/detail/never_destroyed.hpp>
#include <hocket/base/error.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/runtime/detail/detached_threads.hpp>

#include <cerrno>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

using addresses = std::vector<std::string>;
using address_list = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

class lookup_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "name lookup"; }
  std::string message(int value) const override { return ::gai_strerror(value); }
};

std::error_code lookup_error(int value) noexcept {
  switch (value) {
    case EAI_SYSTEM: return {errno, std::system_category()};
    case EAI_MEMORY: return std::make_error_code(std::errc::not_enough_memory);
    default: return {value, name_lookup_category()};
  }
}

result<addresses> numeric_texts(const addrinfo* first) {
  addresses texts;
  for (const addrinfo* each = first; each; each = each->ai_next) {
    char text[NI_MAXHOST];
    const int error = ::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    if (error != 0) return failure(lookup_error(error));
    texts.emplace_back(text);
  }
  return texts;
}

result<addresses> resolve_now(const std::string& host, int flags) {
  addrinfo hints{};
  hints.ai_flags = flags;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &first)) return failure(lookup_error(error));
  const address_list owner(first, &::freeaddrinfo);
  return numeric_texts(first);
}

class lookup final : public detached_threads::job {
 public:
  lookup(std::string host, oneshot_sender<result<addresses>> answer) noexcept
      : host_(std::move(host)), answer_(std::move(answer)) {}
  void run() noexcept override {
    try {
      answer_.send(resolve_now(host_, 0));
    } catch (const std::bad_alloc&) {
      answer_ = {};  // the receiver gets broken_pipe
    }
  }

 private:
  const std::string host_;
  oneshot_sender<result<addresses>> answer_;
};

detached_threads& lookup_threads() {
  static const never_destroyed<detached_threads> threads(
      detached_threads::limits{.threads = 32, .queue = 10'000, .name = "names"});
  return *threads;
}

}  // namespace

const std::error_category& name_lookup_category() noexcept {
  static const lookup_category category;
  return category;
}

bool is_numeric_host(const std::string& host) noexcept {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* first = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &first) != 0) return false;
  ::freeaddrinfo(first);
  return true;
}

task<result<addresses>> resolve_host(std::string host) {
  if (host.find('\0') != std::string::npos) co_return failure(std::make_error_code(std::errc::invalid_argument));
  if (is_numeric_host(host)) co_return resolve_now(host, AI_NUMERICHOST);
  auto [sender, receiver] = make_oneshot<result<addresses>>();
  if (!lookup_threads().post(std::make_unique<lookup>(std::move(host), std::move(sender))))
    co_return failure(make_error_code(errc::full));
  auto answer = co_await receiver.receive();
  if (!answer && answer.error() == std::errc::broken_pipe)
    co_return failure(std::make_error_code(std::errc::not_enough_memory));
  co_return answer;
}

}}}  // namespace hocket::detail
