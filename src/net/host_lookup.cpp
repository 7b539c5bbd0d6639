// Lookups: a queue of records, and threads that take them.
//
// # Records
//
// A record belongs to its waiter and to the queue or the thread that runs it (shared_ptr). The thread writes the result
// before it sets `done`; the waiter reads it after `done`. A waiter that leaves drops its share: then the record is
// unshared in the queue, and a thread drops it without a lookup.
//
// # The pool
//
// One object for each process, never destroyed: detached threads use it until the process ends. A forked child finds by
// forks_so_far() that it has a copy without threads, and makes another one. Guarded by its mutex: all fields.
#include <hocket/base/detail/forks.hpp>
#include <hocket/base/detail/mutex.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/net/detail/host_lookup.hpp>
#include <hocket/runtime/detail/signal_count.hpp>
#include <hocket/sync/event.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <sys/socket.h>
#include <thread>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Not in the anonymous namespace: the frame of resolve_host() has a pointer to it.
struct lookup_record {
  lookup_record(std::string name, int number) : host(std::move(name)), port(number) {}
  std::string host;
  int port;
  event done{};
  std::error_code error{};
  std::vector<socket_address> addresses{};
};

namespace {

constexpr std::chrono::seconds idle_limit{10};
constexpr int max_port = 65535;

class lookup_error final : public std::error_category {
 public:
  const char* name() const noexcept override { return "lookup"; }
  std::string message(int value) const override { return ::gai_strerror(value); }
  std::error_condition default_error_condition(int) const noexcept override {
    return std::make_error_condition(std::errc::host_unreachable);
  }
};

std::error_code error_of_lookup(int value) noexcept {
  if (value == EAI_SYSTEM) return {errno, std::system_category()};
  if (value == EAI_MEMORY) return std::make_error_code(std::errc::not_enough_memory);
  return {value, lookup_category()};
}

void run_lookup(lookup_record& record) noexcept {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* first = nullptr;
  const int error = ::getaddrinfo(record.host.c_str(), nullptr, &hints, &first);
  if (error != 0) {
    record.error = error_of_lookup(error);
    return;
  }
  try {
    for (const addrinfo* each = first; each; each = each->ai_next) {
      const socket_address address(each->ai_addr, each->ai_addrlen);
      if (address.is_valid()) record.addresses.push_back(address.with_port(static_cast<std::uint16_t>(record.port)));
    }
    if (record.addresses.empty()) record.error = error_of_lookup(EAI_NONAME);
  } catch (...) {
    record.error = std::make_error_code(std::errc::not_enough_memory);
  }
  ::freeaddrinfo(first);
}

class lookup_pool {
 public:
  // The pool of this process. Throws std::bad_alloc.
  static lookup_pool& instance();

  // False: there is no thread, and the system starts none. Throws std::bad_alloc.
  bool enqueue(std::shared_ptr<lookup_record> record);

 private:
  void run() noexcept;
  std::shared_ptr<lookup_record> next(std::unique_lock<std::mutex>& lock) noexcept;
  bool start_thread() noexcept;

  const std::uint32_t forks_ = forks_so_far();
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::shared_ptr<lookup_record>> queue_;
  std::size_t threads_ = 0, idle_ = 0;
};

lookup_pool& lookup_pool::instance() {
  static primitive::thread_mutex mutex;
  static lookup_pool* current = nullptr;
  const primitive::locked guard(mutex);
  if (!current || current->forks_ != forks_so_far()) current = new lookup_pool;
  return *current;
}

bool lookup_pool::start_thread() noexcept {
  try {
    std::thread([this] { run(); }).detach();
  } catch (...) {
    return false;
  }
  ++threads_;
  return true;
}

bool lookup_pool::enqueue(std::shared_ptr<lookup_record> record) {
  const std::lock_guard guard(mutex_);
  queue_.push_back(std::move(record));
  if (idle_ >= queue_.size()) return news_.notify_one(), true;
  if (threads_ < max_lookups && start_thread()) return true;
  if (threads_ != 0) return true;
  queue_.pop_back();
  return false;
}

// Null: there was nothing for too long.
std::shared_ptr<lookup_record> lookup_pool::next(std::unique_lock<std::mutex>& lock) noexcept {
  ++idle_;
  const bool has_work = news_.wait_for(lock, idle_limit, [this] { return !queue_.empty(); });
  --idle_;
  if (!has_work) return nullptr;
  std::shared_ptr<lookup_record> first = std::move(queue_.front());
  queue_.pop_front();
  return first;
}

void lookup_pool::run() noexcept {
  set_mask_of_library_thread();
  std::unique_lock lock(mutex_);
  while (std::shared_ptr<lookup_record> record = next(lock)) {
    lock.unlock();
    if (record.use_count() > 1) run_lookup(*record);
    record->done.set();
    record.reset();
    lock.lock();
  }
  --threads_;
}

// The host as an address, if no lookup is needed.
std::vector<socket_address> numeric_address(const std::string& host, int port) {
  const bool is_v6 = host.find(':') != std::string::npos && !host.starts_with("unix:");
  const std::string text = host.starts_with("unix:") ? host
                           : is_v6                   ? "[" + host + "]:" + std::to_string(port)
                                                     : host + ":" + std::to_string(port);
  const result<socket_address> address = socket_address::parse(text);
  return address ? std::vector{*address} : std::vector<socket_address>();
}

}  // namespace

const std::error_category& lookup_category() noexcept {
  static const lookup_error category;
  return category;
}

task<result<std::vector<socket_address>>> resolve_host(std::string host, int port) {
  const bool is_name = !host.empty() && host.find('\0') == std::string::npos;
  if (!is_name || port < 0 || port > max_port) co_return failure(std::errc::invalid_argument);
  if (std::vector<socket_address> addresses = numeric_address(host, port); !addresses.empty()) co_return addresses;
  const auto record = std::make_shared<lookup_record>(std::move(host), port);
  if (!lookup_pool::instance().enqueue(record)) co_return failure(std::errc::resource_unavailable_try_again);
  co_await or_return(record->done.wait());
  if (record->error) co_return failure(record->error);
  co_return std::move(record->addresses);
}

}}}  // namespace hocket::detail
