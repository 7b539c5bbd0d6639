// Children of hocket's that tests start: what they write, and why they cannot be started.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>

#include <doctest/doctest.h>
#include <string>

namespace hocket_test {

inline std::string output_of(const hocket::text_arguments& arguments, hocket::process_options options = {}) {
  options.out = hocket::process::pipe;
  hocket::process child = hocket::process::start(arguments, options).value();
  std::string text = hocket::sync_wait(hocket::read_all(child.out())).value();
  CHECK(hocket::sync_wait(child.wait()) == hocket::exit_status(0));
  return text;
}

inline std::error_code error_of_start(const hocket::text_arguments& arguments,
                                      const hocket::process_options& options = {}) {
  return hocket::process::start(arguments, options).error_or({});
}

}  // namespace hocket_test
