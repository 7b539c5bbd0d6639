// A folder for the files of one test, removed at its end.
#pragma once
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

namespace hocket_test {

class temporary_folder {
 public:
  temporary_folder() {
    std::string name = std::filesystem::temp_directory_path() / "hocket-test-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    at_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(at_, ignored);
  }
  std::string operator/(const char* name) const { return at_ / name; }

 private:
  std::filesystem::path at_;
};

}  // namespace hocket_test
