#include "runtime/wait_graph.hpp"

#include <hocket/base/fatal.hpp>

#include "runtime/coroutine_name.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

const suspension* wait_of(const scheduled& coroutine) noexcept {
  return coroutine.state() == activity::waiting ? coroutine.waiting_for() : nullptr;
}

const void* holder_in(const suspension* wait) noexcept {
  const wait_source* source = wait ? wait->awaited() : nullptr;
  return source ? source->holder() : nullptr;
}

}  // namespace

wait_graph::wait_graph(std::size_t members) noexcept
    : memory_(members * sizeof(node)), nodes_(static_cast<node*>(memory_.get())), capacity_(members) {}

void wait_graph::add(list<scheduled>& members) noexcept { add(members, fate::unknown); }
void wait_graph::add_unknown(list<scheduled>& members) noexcept { add(members, fate::unblocked); }

void wait_graph::add(list<scheduled>& members, fate initial) noexcept {
  if (!nodes_) return;
  for (const scheduled& member : members) {
    if (size_ == capacity_) return;
    nodes_[size_++] = {&member, nullptr, none, initial};
  }
}

void wait_graph::sort() noexcept {
  std::sort(nodes_, nodes_ + size_,
            [](const node& a, const node& b) { return std::less<>()(a.coroutine, b.coroutine); });
}

void wait_graph::examine(node& visited) noexcept {
  if (visited.end != fate::unknown) return;
  const suspension* wait = visited.coroutine->in_parts() ? nullptr : wait_of(*visited.coroutine);
  const wait_source* source = wait && wait->ends_only_by_grant() ? wait->awaited() : nullptr;
  const void* holder = source ? source->holder() : nullptr;
  if (!holder) return;
  visited.next = index_of(holder);
  visited.needs = source->what();
  const bool is_lock = !source->subject();
  if (visited.next == none && is_lock) visited.end = fate::waits_for_absent;
}

std::uint32_t wait_graph::index_of(const void* coroutine) const noexcept {
  const node* const start = nodes_;
  const node* const end = start + size_;
  const node* at = std::lower_bound(start, end, coroutine, [](const node& element, const void* other) {
    return std::less<>()(element.coroutine, other);
  });
  return at != end && at->coroutine == coroutine ? static_cast<std::uint32_t>(at - start) : none;
}

// Follows the arrows to their end, or to a node that was visited before: on this path (a circle) or on another.
void wait_graph::follow(std::uint32_t from) noexcept {
  std::uint32_t at = from;
  while (at != none && nodes_[at].end == fate::unknown) {
    nodes_[at].end = fate::visiting;
    at = nodes_[at].next;
  }
  if (at == none) return mark_path(from, fate::unblocked);
  if (nodes_[at].end == fate::visiting) mark_circle(at);
  const fate end = nodes_[at].end;
  mark_path(from, end == fate::on_a_circle ? fate::waits_for_a_circle : end);
}

void wait_graph::mark_circle(std::uint32_t from) noexcept {
  for (std::uint32_t at = from; nodes_[at].end == fate::visiting; at = nodes_[at].next)
    nodes_[at].end = fate::on_a_circle;
}

void wait_graph::mark_path(std::uint32_t from, fate end) noexcept {
  for (std::uint32_t at = from; at != none && nodes_[at].end == fate::visiting; at = nodes_[at].next)
    nodes_[at].end = end;
}

const scheduled* wait_graph::holder_of(const scheduled& coroutine) const noexcept {
  const void* holder = nodes_ ? holder_in(wait_of(coroutine)) : nullptr;
  const std::uint32_t at = holder ? index_of(holder) : none;
  return at == none ? nullptr : nodes_[at].coroutine;
}

bool wait_graph::has_circle() const noexcept {
  return std::any_of(nodes_, nodes_ + size_, [](const node& element) { return element.end == fate::on_a_circle; });
}

void wait_graph::write_arrow(text_writer& out, const node& from) const noexcept {
  write_name(out.literal("  "), *from.coroutine);
  out.literal(" waits for ").text(from.needs);
  if (from.next == none) out.literal(", which no coroutine here holds");
  else write_name(out.literal(", which needs "), *nodes_[from.next].coroutine);
  out.end_line();
}

// A circle is written from its member with the lowest address.
void wait_graph::write_circle(text_writer& out, std::uint32_t from) const noexcept {
  std::uint32_t length = 0;
  std::uint32_t at = from;
  do {
    if (at < from) return;
    ++length;
    at = nodes_[at].next;
  } while (at != from);
  out.literal("deadlock: they wait for one another, ").number(length).literal(" in a circle").end_line();
  do {
    write_arrow(out, nodes_[at]);
    at = nodes_[at].next;
  } while (at != from);
}

void wait_graph::write_waits(text_writer& out, fate end, const char* headline) const noexcept {
  bool first = true;
  for (std::uint32_t i = 0; i < size_; ++i) {
    if (nodes_[i].end != end) continue;
    if (first) out.literal(headline).end_line();
    first = false;
    write_arrow(out, nodes_[i]);
  }
}

void wait_graph::write_circles(text_writer& out) const noexcept {
  for (std::uint32_t i = 0; i < size_; ++i)
    if (nodes_[i].end == fate::on_a_circle) write_circle(out, i);
  write_waits(out, fate::waits_for_a_circle, "these wait for a coroutine of a circle:");
}

void wait_graph::write_deadlocks(text_writer& out) const noexcept {
  write_circles(out);
  write_waits(out, fate::waits_for_absent, "these wait for a holder that has ended or runs elsewhere:");
}

void wait_graph::notice_circles(const char* owner_kind, const char* name) const noexcept {
  for (std::uint32_t i = 0; i < size_; ++i) {
    const node& from = nodes_[i];
    if (from.end != fate::on_a_circle) continue;
    char text[400];
    std::snprintf(text, sizeof text,
                  "deadlock at the end of %s \"%.48s\": \"%.48s\" waits for %.48s, which needs \"%.48s\"", owner_kind,
                  name, from.coroutine->name(), from.needs, nodes_[from.next].coroutine->name());
    notice(text);
  }
}

}}}  // namespace hocket::detail
