// A server's address, from with_servers.py. If there is no server, the test prints its variable and is skipped.
#pragma once
#include <cstdlib>
#include <doctest/doctest.h>

namespace hocket_test {

class server {
 public:
  explicit server(const char* variable) : address_(std::getenv(variable)) {
    if (!address_) MESSAGE("skipped: no server (", variable, "): see [clients] in tools/packages.txt");
  }
  explicit operator bool() const { return address_ != nullptr; }
  const char* text() const { return address_; }
  int port() const { return std::atoi(address_); }

 private:
  const char* const address_;
};

}  // namespace hocket_test
