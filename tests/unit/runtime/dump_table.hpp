// What loop::dump wrote, taken apart.
#pragma once
#include <hocket/runtime/loop.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace hocket_test {

struct dump_row {
  std::string name, kind, state, suspended, spawned, awaited;
};

// A line, at each run of two or more spaces.
inline std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  for (std::size_t from = 0; from < line.size();) {
    std::size_t to = std::min(line.find("  ", from), line.size());
    columns.push_back(line.substr(from, to - from));
    from = std::min(line.find_first_not_of(' ', to), line.size());
  }
  return columns;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return lines;
}

inline std::string read_from_start(int fd) {
  std::string text;
  char part[4096];
  for (ssize_t size; (size = ::pread(fd, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  return text;
}

// The bytes that were written to a descriptor.
struct memory_file {
  int fd = ::memfd_create("memory_file", MFD_CLOEXEC);
  memory_file() = default;
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(fd); }
  std::string text() const { return read_from_start(fd); }
};

// Of a loop or a runtime.
template <class Where>
std::string dump_text(Where& of) {
  const memory_file written;
  REQUIRE(written.fd >= 0);
  of.dump(written.fd);
  return written.text();
}

struct dump_table {
  std::string header;  // the line of the loop itself
  std::vector<dump_row> rows;

  explicit dump_table(hocket::loop& lp) : dump_table(dump_text(lp)) {}
  explicit dump_table(const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    REQUIRE_FALSE(lines.empty());
    header = lines[0];
    for (std::size_t i = 2; i < lines.size() && !is_below(lines[i]); ++i) {
      std::vector<std::string> c = columns_of(lines[i]);
      REQUIRE_MESSAGE(c.size() == 6, lines[i]);
      rows.push_back({c[0], c[1], c[2], c[3], c[4], c[5]});
    }
  }

  // Returns whether the line is one of the lines below the table.
  static bool is_below(const std::string& line) {
    return line.rfind("deadlock: ", 0) == 0 || line.rfind("nothing here ", 0) == 0 || line.rfind("nobody ", 0) == 0;
  }

  const dump_row& operator[](const std::string& name) const {
    for (const dump_row& row : rows)
      if (row.name == name) return row;
    FAIL("no row is named " << name);
    return rows.front();
  }
};

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// The lines below the table, of deadlocks.
inline std::string deadlocks_in(const std::string& text) {
  const std::size_t at = text.find("deadlock:");
  return at == text.npos ? "" : text.substr(at);
}

inline void step_until_quiet(hocket::loop& lp) {
  for (int i = 0; i < 10; ++i) lp.step();
}

// "file.cpp:12": how a place in this file looks at the end of its column.
inline std::string place(const char* file, unsigned line) {
  std::string whole = file;
  return whole.substr(whole.rfind('/') + 1) + ":" + std::to_string(line);
}
inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
inline std::string address_of(const void* object) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", reinterpret_cast<std::size_t>(object));
  return text;
}

}  // namespace hocket_test
