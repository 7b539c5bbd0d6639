// loop::dump: everything is read on the loop's thread, between two of its steps.
#include <hocket/core/thread/seam/dump_section.hpp>
#include <hocket/runtime/loop.hpp>

#include "runtime/table.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

void loop::dump(int fd) noexcept {
  text_writer out(fd);
  activity_counts seen;
  count(coroutines_.members(), seen);
  const std::size_t all = std::max(live(), seen.begun);
  out.text("loop \"").text(coroutines_.name()).text("\": ").number(all).text(" live, ").number(seen.begun);
  out.text(" begun (").number(seen.running).text(" running, ").number(seen.ready).text(" ready, ");
  out.number(seen.waiting).text(" waiting), ").number(all - seen.begun).text(" not begun, ");
  out.number(wheel_.size()).text(" timers").end_line();
  if (seen.begun != 0) {
    wait_graph waits(seen.begun);
    waits.add(coroutines_.members());
    waits.connect();
    write_table_head(out);
    write_table(out, coroutines_.members(), waits, now());
    waits.write_deadlocks(out);
    write_stillness(out, seen, all, has_sources());
  }
  write_dump_sections(out, *this);
}

void loop::notice_circles() noexcept {
  activity_counts seen;
  count(coroutines_.members(), seen);
  wait_graph waits(seen.begun);
  waits.add(coroutines_.members());
  waits.connect();
  waits.notice_circles("loop", coroutines_.name());
}

}}  // namespace hocket
