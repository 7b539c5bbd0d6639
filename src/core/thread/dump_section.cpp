#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/per_process.hpp>
#include <hocket/core/thread/seam/dump_section.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

struct section_list {
  primitive::thread_mutex mutex;
  list<dump_section> sections;  // guarded by the mutex
};

constinit per_process<section_list> sections_of_process;

}  // namespace

void list_section(dump_section& section) noexcept {
  section_list* const all = sections_of_process.get();
  if (!all) return;
  const primitive::locked guard(all->mutex);
  all->sections.push_back(section);
}

void unlist_section(dump_section& section) noexcept {
  section_list* const all = sections_of_process.find();
  if (!all) return;
  const primitive::locked guard(all->mutex);
  if (section.linked()) list<dump_section>::erase(section);
}

void write_dump_sections(text_writer& out, const executor& home) noexcept {
  section_list* const all = sections_of_process.find();
  if (!all || !all->mutex.try_lock()) return;
  for (dump_section& section : all->sections)
    if (&section.home() == &home) section.write(out);
  all->mutex.unlock();
}

}}}  // namespace hocket::detail
