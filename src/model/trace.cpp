#include "trace.hpp"

#include <algorithm>
#include <cstdio>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {
namespace {

constexpr std::size_t longest = 400;  // steps shown; of a longer execution the last ones

class writer {
 public:
  writer(const memory& objects, const std::vector<std::string>& names) : objects_(objects), names_(names) {
    for (const auto& name : names) width_ = std::max(width_, name.size());
  }

  std::string line(const step& s, std::size_t number) {
    char head[32];
    std::snprintf(head, sizeof head, "%5zu ", number);
    std::string text = head + names_[s.thread];
    text.append(width_ - names_[s.thread].size() + 2, ' ');
    text += operation(s);
    if (s.stale) text += "  [stale: newer stores exist]";
    if (s.spurious) text += "  [spurious]";
    if (s.where.line() != 0) {
      if (text.size() < 72) text.append(72 - text.size(), ' ');
      text += "  " + short_name(s.where);
    }
    return text + '\n';
  }

  // Pointers get their numbers in the order of all steps, whether or not those are shown.
  void meet(const step& s) { operation(s); }

 private:
  std::string operation(const step& s) {
    std::string verb = s.verb, order = order_name(s.order);
    auto object = [&] { return name_of(objects_, s.location); };
    auto shown = [&](std::uint64_t bits) { return value(bits, objects_.at(s.location).shape); };
    switch (s.shape) {
      case form::read: return object() + '.' + verb + '(' + order + ") = " + shown(s.value);
      case form::write: return object() + '.' + verb + '(' + shown(s.value) + ", " + order + ')';
      case form::update: {
        auto before = shown(s.before);
        return object() + '.' + verb + '(' + order + "): " + before + " becomes " + shown(s.value);
      }
      case form::exchange: {
        auto expected = shown(s.before);
        if (s.succeeded) return object() + '.' + verb + '(' + order + "): " + expected + " becomes " + shown(s.value);
        return object() + '.' + verb + '(' + order + "): fails, is " + shown(s.value) + ", not " + expected;
      }
      case form::fence: return "fence(" + order + ')';
      case form::object: return object() + ' ' + verb;
      case form::wake: return (s.location == nowhere ? "a destroyed word" : object()) + '.' + verb + woken(s.value);
      case form::thread: break;
    }
    return verb;
  }

  std::string woken(std::uint64_t mask) const {
    if (mask == 0) return "() wakes no thread";
    std::string text = "() wakes ";
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if ((mask >> i & 1) != 0) text += names_[i] + ' ';
    }
    text.pop_back();
    return text;
  }

  std::string value(std::uint64_t bits, value_shape shape) {
    switch (shape.kind) {
      case detail::value_kind::boolean: return bits != 0 ? "true" : "false";
      case detail::value_kind::pointer: return pointer(bits);
      case detail::value_kind::signed_number: {
        auto unused = 64 - 8 * shape.bytes;
        return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
      }
      case detail::value_kind::unsigned_number: break;
    }
    return number(bits);
  }

  // One in the range where the heap and the stacks of a process lie is most likely an address, with marks in its lowest
  // bits. As a number it would be another one in every run.
  std::string number(std::uint64_t bits) {
    if (bits >> 36 == 0 || bits >> 47 != 0) return std::to_string(bits);
    const auto marks = bits & 7;
    return pointer(bits - marks) + (marks != 0 ? '+' + std::to_string(marks) : "");
  }

  std::string pointer(std::uint64_t bits) {
    if (bits == 0) return "null";
    auto known = std::find(pointers_.begin(), pointers_.end(), bits);
    auto number = known - pointers_.begin();
    if (known == pointers_.end()) pointers_.push_back(bits);
    return "&p" + std::to_string(number);
  }

  const memory& objects_;
  const std::vector<std::string>& names_;
  std::size_t width_ = 0;
  std::vector<std::uint64_t> pointers_;
};

}  // namespace

const char* order_name(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    default: return "seq_cst";
  }
}

std::string short_name(const site& where) {
  std::string_view path = where.file_name();
  auto slash = path.rfind('/');
  return std::string(slash == path.npos ? path : path.substr(slash + 1)) + ':' + std::to_string(where.line());
}

std::string name_of(const memory& objects, std::uint32_t id) {
  if (const auto* name = objects.at(id).name) return name;
  return "object#" + std::to_string(id);
}

std::string render(const trace& done, const memory& objects, const std::vector<std::string>& names) {
  writer out(objects, names);
  const auto& steps = done.steps();
  auto first = steps.size() > longest ? steps.size() - longest : 0;
  for (std::size_t i = 0; i < first; ++i) out.meet(steps[i]);
  std::string text;
  if (first > 0) text = "      (" + std::to_string(first) + " steps before)\n";
  for (auto i = first; i < steps.size(); ++i) text += out.line(steps[i], i + 1);
  return text;
}

}}}  // namespace hocket::model
