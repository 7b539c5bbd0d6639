// A dump section: what an object of a higher layer adds to the dump of its loop or runtime, as a connection pool.
//
// The sections of a process form a list. list_section() and unlist_section() change it, under its mutex; a dump writes
// the sections of its executor under the same mutex, so an object is alive while it is written. Its owner calls
// unlist_section() before any part of it is destroyed. A forked child begins with an empty list: a section of the
// parent is in no dump of the child, and its owner does not call unlist_section() there.
//
// A debugger may ask for a dump while a thread that holds a mutex is stopped. So a dump only tries to lock, and a
// section does the same with its own mutex.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/text_writer.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class executor;

namespace detail {

class dump_section : public list_node {
 public:
  // Lines of text. Allocates nothing, and does not block.
  virtual void write(text_writer& out) noexcept = 0;
  // The executor in whose dumps the section is.
  virtual const executor& home() const noexcept = 0;

 protected:
  dump_section() noexcept = default;
  ~dump_section() = default;
};

// Any thread. Without memory for the list, the section is in no dump.
void list_section(dump_section& section) noexcept;
void unlist_section(dump_section& section) noexcept;
// Writes the sections of this executor.
void write_dump_sections(text_writer& out, const executor& home) noexcept;

}  // namespace detail

}}  // namespace hocket
