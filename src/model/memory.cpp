#include "memory.hpp"

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

void memory::clear() noexcept {
  for (auto& thread : threads_) {
    thread.now.clear();
    thread.acquired.clear();
    thread.released.clear();
    thread.lit.clear();
    thread.owed.clear();
  }
  sequential_.clear();
  count_ = 0;
  arena_.clear();
}

void memory::fork(std::uint32_t parent, std::uint32_t child) {
  threads_[child].now.join(now(parent));
  threads_[child].acquired.join(now(parent));
}

void memory::join(std::uint32_t parent, std::uint32_t child) {
  now(parent).join(now(child));
  threads_[parent].acquired.join(now(child));
}

std::uint32_t memory::create(const char* name, value_shape shape, std::uint64_t initial, bool shared_before) {
  if (count_ == locations_.size()) locations_.emplace_back();
  auto& created = locations_[count_];
  auto stores = std::move(created.stores);
  stores.clear();
  stores.push_back({initial, {}});
  created = location{};
  created.stores = std::move(stores);
  created.name = name;
  created.shape = shape;
  created.shared_before = shared_before;
  return count_++;
}

std::uint32_t memory::floor(std::uint32_t thread, std::uint32_t id, std::memory_order order) const noexcept {
  auto oldest = std::max<std::uint32_t>(1, threads_[thread].now[stamp_of(id)]);
  return order == std::memory_order_seq_cst ? std::max(oldest, sequential_[stamp_of(id)]) : oldest;
}

std::uint64_t memory::read(std::uint32_t thread, std::uint32_t id, std::uint32_t stamp, std::memory_order order) {
  auto& views = threads_[thread];
  const auto& source = locations_[id].stores[stamp - 1];
  views.now.raise(stamp_of(id), stamp);
  views.acquired.raise(stamp_of(id), stamp);
  views.acquired.join(source.message);
  if (acquires(order)) views.now.join(source.message);
  if (order == std::memory_order_seq_cst) sequential_.raise(stamp_of(id), stamp);
  return source.value;
}

void memory::write(std::uint32_t thread, std::uint32_t id, std::uint64_t value, std::memory_order order, bool update) {
  auto& views = threads_[thread];
  auto& target = locations_[id];
  auto stamp = target.newest() + 1;
  views.now.raise(stamp_of(id), stamp);
  views.acquired.raise(stamp_of(id), stamp);
  scratch_.clear();
  if (update) scratch_.join(target.stores.back().message);
  scratch_.join(releases(order) ? views.now : views.released);
  scratch_.raise(stamp_of(id), stamp);
  target.stores.push_back({value, scratch_.freeze(arena_)});
  if (order == std::memory_order_seq_cst) sequential_.raise(stamp_of(id), stamp);
}

void memory::fence(std::uint32_t thread, std::memory_order order) {
  auto& views = threads_[thread];
  if (acquires(order)) views.now.join(views.acquired);
  if (order == std::memory_order_seq_cst) {
    views.learn_stamps(sequential_);
    sequential_.join(views.now, max_threads);
  }
  if (releases(order)) views.released.join(views.now);
}

void memory::light_fence(std::uint32_t thread) {
  auto& views = threads_[thread];
  views.lit.join(views.now, max_threads);
  views.learn_stamps(views.owed);
}

void memory::heavy_fence(std::uint32_t thread) {
  fence(thread, std::memory_order_seq_cst);
  auto& own = threads_[thread];
  for (auto& other : threads_) other.owed.join(own.now, max_threads);
  for (const auto& other : threads_) own.learn_stamps(other.lit);
}

void memory::refresh(std::uint32_t thread, std::uint32_t id) {
  now(thread).raise(stamp_of(id), locations_[id].newest());
  threads_[thread].acquired.raise(stamp_of(id), locations_[id].newest());
}

void memory::lock(std::uint32_t thread, std::uint32_t id) {
  auto& mutex = locations_[id];
  mutex.owner = thread;
  now(thread).join(mutex.unlocked);
  threads_[thread].acquired.join(mutex.unlocked);
}

void memory::unlock(std::uint32_t thread, std::uint32_t id) {
  auto& mutex = locations_[id];
  mutex.owner = max_threads;
  mutex.unlocked = now(thread).freeze(arena_);
}

conflict memory::touch(std::uint32_t thread, std::uint32_t id, std::uint32_t step) {
  auto& object = locations_[id];
  const auto& known = now(thread);
  object.touched[thread] = {known[thread], step};
  if (object.shared_before || object.written.clock <= known[object.writer]) return {};
  return {true, true, object.writer, object.written.step};
}

conflict memory::change(std::uint32_t thread, std::uint32_t id, std::uint32_t step) {
  auto& object = locations_[id];
  const auto& known = now(thread);
  conflict race{};
  if (!object.shared_before && object.written.clock > known[object.writer]) {
    race = {true, true, object.writer, object.written.step};
  }
  for (std::uint32_t other = 0; other < max_threads && !race.found; ++other) {
    if (object.touched[other].clock > known[other]) race = {true, false, other, object.touched[other].step};
  }
  object.shared_before = false;
  object.writer = thread;
  object.written = object.touched[thread] = {known[thread], step};
  return race;
}

}}}  // namespace hocket::model
