// Names for tests of lookups. A program that links support/stuck_names.cpp has its own getaddrinfo(3):
//
//   stuck...        each name that begins so waits while a stuck_names exists, then is unknown
//   unknown.test    is unknown
//   two.test        127.0.0.2 and 127.0.0.1
//   other names     the system's
//
// If the caller's text changes while its lookup waits, then the lookup fails with EAI_FAIL.
#pragma once
#include <cstddef>

namespace hocket_test {

class stuck_names {
 public:
  stuck_names();
  ~stuck_names();  // returns when no lookup waits any more
  stuck_names(const stuck_names&) = delete;
  stuck_names& operator=(const stuck_names&) = delete;

  // How many lookups wait.
  std::size_t running() const;
  // From now on no lookup waits. Returns when none waits any more.
  void release();
};

// How many names were looked up, numeric ones excepted.
std::size_t lookups_so_far();
// How many of the lookups that waited did not find their name as it was.
std::size_t changed_names();

}  // namespace hocket_test
