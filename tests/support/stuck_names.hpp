// Names for tests of lookups. A program that links support/stuck_names.cpp has its own getaddrinfo(3):
//
//   stuck.test      waits while a stuck_names exists, then is unknown
//   unknown.test    is unknown
//   two.test        127.0.0.2 and 127.0.0.1
//   other names     the system's
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
};

}  // namespace hocket_test
