// A family: the descriptors of one server, which takes over descriptors that were destroyed too early.
//
// # Why
//
// If a socket is closed while the peer still sends, the system resets the connection: what was written and not yet
// received is lost. So the destructor of a server's stream, whose end no read has found, hands the open fd to the
// family of its descriptor. The family shuts down writing, waits, and closes the fd (net/detail/lingerer.hpp). A
// close() says that nothing is to be waited for, and closes the fd.
//
// # Protocol
//
//   owner                                          family
//   1. open_descriptor::end(): sets the mark
//   2. closes the directions; the last party is
//      in direction_closed(): no call uses the fd,
//      and no driver watches it
//   3. shuts down writing
//   4. hand_over(): finds the family, under the
//      mutex of all families                       take_over(): keeps the descriptor
//   5.                                             open_descriptor::end_lingering(), once
//
// The use of the directions is not dropped in between. So the place in the table is not taken by another descriptor,
// and events and operations that are late find closed directions.
//
// # Hazards
//
// If a stream outlives its server, then the number of its family leads to nobody. Prevented: hand_over() looks the
// number up and does not find it, and the fd is closed at once. Numbers are not used again.
//
// If the server ends between the look-up and take_over(), then that call would use freed memory. Prevented by the mutex
// of all families: leave() takes it, so no take_over() is under way afterwards, and none begins.
//
// If a process forks, the child has copies of the connections. If the child destroyed a copy and shut down writing,
// then the connection of the parent would end, because both share it. Prevented: the number tells the process, and in
// another process the copy is closed at once.
//
// # Access
//
// enter(), leave(): the owner of the family. hand_over(): the party that closes the last direction, on any thread.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor;

class descriptor_family : public list_node {
 public:
  descriptor_family() noexcept;
  descriptor_family(const descriptor_family&) = delete;
  descriptor_family& operator=(const descriptor_family&) = delete;

  // What its descriptors have as open_descriptor::family(). Not 0.
  std::uint64_t number() const noexcept { return number_; }
  static bool is_of_this_process(std::uint64_t number) noexcept;

  // From now on take_over() may be called. Once.
  void enter() noexcept;
  // Afterwards it is not called. Before the destructor; further calls do nothing.
  void leave() noexcept;

  // Gives the descriptor to the family with that number. False: there is none, or it does not take the descriptor.
  static bool hand_over(open_descriptor& closed, std::uint64_t number) noexcept;

 protected:
  ~descriptor_family() = default;

 private:
  // Any thread, under the mutex of all families. False: it is not taken.
  virtual bool take_over(open_descriptor& closed) noexcept = 0;

  const std::uint64_t number_;  // the upper half: forks_so_far()
};

}}}  // namespace hocket::detail
