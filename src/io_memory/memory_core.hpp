// What all objects and drivers of one network share: its chance, its names, and what is on its way.
//
// An *arrival* is an edge that a driver tells when its time has come: whichever driver polls first.
//
// Locks. The core's mutex is taken under the mutex of a descriptor, and is never held while an edge is told.
#pragma once
#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/random.hpp>
#include <hocket/core/thread/detail/driver.hpp>
#include <hocket/io/detail/backend.hpp>
#include <hocket/io/detail/open_descriptor.hpp>
#include <hocket/io_memory/memory_network.hpp>

#include "io_memory/memory_names.hpp"
#include "io_memory/memory_object.hpp"

#include <queue>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_driver;

class memory_core final : public backend, public socket_opener, public std::enable_shared_from_this<memory_core> {
 public:
  explicit memory_core(const memory_options& options);
  ~memory_core();

  memory_pair make_pair();
  void reset(open_descriptor& one) noexcept;
  // Throw std::bad_alloc.
  result<tcp::listener> listen(const socket_address& at, const tcp::listen_options& options);
  // Bound to `at`; if `to` is valid, connected to it.
  result<udp::socket> open_datagrams(const socket_address& at, const socket_address& to,
                                     const udp::socket_options& options);

  // socket_opener
  open_descriptor* open(const socket_address& to, const socket_address& from, bool no_delay,
                        int& error) noexcept override;

  // backend
  call_end carry_out(open_descriptor& at, transfer& what) noexcept override;
  result<io_driver*> driver_here() noexcept override;
  void close(open_descriptor& gone) noexcept override;
  int set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept override;
  int shut_down(open_descriptor& at, int how) noexcept override;
  int address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept override;
  std::size_t unsent(open_descriptor& at) noexcept override;

  time_point now() const noexcept { return clock().now(); }

  // --- for objects, under the mutex
  const memory_options& options() const noexcept { return options_; }
  bool happens(unsigned chance) noexcept { return chance != 0 && random_.below(256) < chance; }
  std::size_t some_of(std::size_t size, unsigned chance) noexcept;  // at least one byte
  duration latency() noexcept;
  // An edge at that time.
  void arrives(time_point at, const memory_object& whom, memory_side side);
  // The edge of what arrives at that time, which may be told late, or also too early.
  void brings(time_point at, const memory_object& whom);
  // The descriptor owns the object from here on. Takes no lock of the core.
  static descriptor own(std::unique_ptr<memory_object> one);
  memory_object* choose(const std::vector<memory_object*>& of) noexcept;
  memory_names streams, datagrams;

  // --- for drivers
  manual_clock* moved_clock() const noexcept { return options_.clock; }
  void add(memory_driver& one);
  void remove(memory_driver& one) noexcept;
  time_point next_arrival() const noexcept;
  // An arrival whose time has come. False: there is none.
  bool take_arrival(std::uint64_t& tag, memory_side& side) noexcept;
  // All that there is now, for one that begins to wait.
  void tell_all(const open_descriptor& one) noexcept;

 private:
  struct arrival {
    time_point at;
    std::uint64_t number;  // in order, where times are equal
    std::uint64_t tag;
    memory_side side;
    bool operator>(const arrival& other) const noexcept {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  class kind;

  const clock_source& clock() const noexcept { return options_.clock ? *options_.clock : steady_clock(); }
  void ring_all() noexcept;

  const memory_options options_;
  const std::unique_ptr<kind> kind_;
  mutable primitive::thread_mutex mutex_;
  // Guarded by mutex_, and so are the names.
  random_engine random_;
  std::priority_queue<arrival, std::vector<arrival>, std::greater<>> arrivals_;
  std::uint64_t arrival_count_ = 0;
  std::vector<memory_driver*> drivers_;
};

}}}  // namespace hocket::detail
