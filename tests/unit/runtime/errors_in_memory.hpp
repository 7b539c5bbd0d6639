// What a test's own process writes to its standard error.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/runtime/dump_table.hpp"

namespace hocket_test {

// The standard error goes into memory as long as it lives.
class errors_in_memory {
 public:
  errors_in_memory() {
    REQUIRE(before_ >= 0);
    REQUIRE(file_ >= 0);
    ::dup2(file_, STDERR_FILENO);
  }
  ~errors_in_memory() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(file_);
  }
  errors_in_memory(const errors_in_memory&) = delete;
  std::string text() const { return read_from_start(file_); }

 private:
  int before_ = ::dup(STDERR_FILENO), file_ = ::memfd_create("errors", MFD_CLOEXEC);
};

}  // namespace hocket_test
