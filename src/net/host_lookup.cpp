// resolve_host() is the waiter; lookup_job runs on a lookup thread. Both share a lookup_record. The thread writes the
// result before it sets `done`, and the waiter reads the result after `done`. If the wait is cancelled or times out,
// the waiter releases its reference. If the job is still queued, the thread later sees that only the job holds the
// record, and skips the lookup.
//
// The job's destructor sets `done`. So if the job is destroyed before it runs, the waiter gets errc::full.
#include <hocket/base/error.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/net/seam/host_lookup.hpp>
#include <hocket/runtime/seam/detached_threads.hpp>
#include <hocket/sync/event.hpp>

#include <cerrno>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Not in the anonymous namespace: the frame of resolve_host() has a pointer to it.
struct lookup_record {
  lookup_record(std::string name, int number) : host(std::move(name)), port(number) {}
  std::string host;
  int port;
  event done{};
  std::error_code error = make_error_code(errc::full);  // until run_lookup() has returned
  std::vector<socket_address> addresses{};
};

namespace {

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
  if (value == EAI_SYSTEM && errno != 0) return {errno, std::system_category()};
  if (value == EAI_MEMORY) return std::make_error_code(std::errc::not_enough_memory);
  return {value, lookup_category()};
}

void append_addresses(lookup_record& record, const addrinfo* first) {
  for (const addrinfo* each = first; each; each = each->ai_next) {
    const socket_address address(each->ai_addr, each->ai_addrlen);
    if (address.is_valid()) record.addresses.push_back(address.with_port(static_cast<std::uint16_t>(record.port)));
  }
}

std::error_code run_lookup(lookup_record& record) noexcept {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (const int error = ::getaddrinfo(record.host.c_str(), nullptr, &hints, &first)) return error_of_lookup(error);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(first, &::freeaddrinfo);
  try {
    append_addresses(record, first);
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
  return record.addresses.empty() ? error_of_lookup(EAI_NONAME) : std::error_code();
}

class lookup_job final : public detached_threads::job {
 public:
  explicit lookup_job(std::shared_ptr<lookup_record> shared) noexcept : record_(std::move(shared)) {}
  ~lookup_job() override { record_->done.set(); }
  void run() noexcept override {
    if (record_.use_count() > 1) record_->error = run_lookup(*record_);
  }

 private:
  const std::shared_ptr<lookup_record> record_;
};

// Returns the address if the host is numeric, or the path of a unix socket ("unix:..."). Else returns an empty vector.
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
  if (host.starts_with("unix:")) co_return failure(socket_address::parse(host).error());
  const auto record = std::make_shared<lookup_record>(std::move(host), port);
  if (!lookup_threads().post(std::make_unique<lookup_job>(record))) co_return failure(make_error_code(errc::full));
  co_await or_return(record->done.wait());
  if (record->error) co_return failure(record->error);
  co_return std::move(record->addresses);
}

}}}  // namespace hocket::detail
