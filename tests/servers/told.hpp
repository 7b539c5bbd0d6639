// A server's address, from with_servers.py. If there is no server, the test prints its variable and is skipped.
#pragma once
#include <cstdlib>
#include <doctest/doctest.h>

namespace hocket_test {

class server {
 public:
  explicit server(const char* variable) : told_(std::getenv(variable)) {
    if (!told_) MESSAGE("skipped: no server (", variable, "): see [clients] in tools/packages.txt");
  }
  explicit operator bool() const { return told_ != nullptr; }
  const char* text() const { return told_; }
  int port() const { return std::atoi(told_); }

 private:
  const char* const told_;
};

}  // namespace hocket_test
