#include <hocket/base/metrics.hpp>
#include <hocket/http/metrics.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace {

// A text with escapes: a backslash, a line feed, and a quote in values of labels.
void append_escaped(std::string& text, std::string_view raw, bool quotes) {
  for (const char c : raw) {
    if (c == '\\') text += "\\\\";
    else if (c == '\n') text += "\\n";
    else if (c == '"' && quotes) text += "\\\"";
    else text += c;
  }
}

void append_value(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";
  } else if (std::isinf(value)) {
    text += value < 0 ? "-Inf" : "+Inf";
  } else {
    std::array<char, 32> digits;
    text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  }
}

// `{name="value",...}`, or nothing without labels.
template <class Labels>
std::string text_of(const Labels& labels) {
  std::string text;
  for (const metric_label& label : labels) {
    text += text.empty() ? '{' : ',';
    text.append(label.name).append("=\"");
    append_escaped(text, label.value, true);
    text += '"';
  }
  if (!text.empty()) text += '}';
  return text;
}

// Labels have no order: two lists with the same labels have the same key.
std::string key_of(std::initializer_list<metric_label> labels) {
  std::vector<metric_label> sorted(labels);
  std::sort(sorted.begin(), sorted.end(), [](const metric_label& a, const metric_label& b) { return a.name < b.name; });
  return text_of(sorted);
}

// All values of a metric stand together, whatever source they are from. A metric is identified by its name, and a value
// by its labels: equal ones are merged.
class text_of_metrics final : public metric_visitor {
 public:
  void add(const metric& description, std::initializer_list<metric_label> labels, double value) override {
    family& members = family_of(description);
    const auto [found, is_new] = members.positions.try_emplace(key_of(labels), members.all.size());
    if (is_new) {
      members.all.push_back({text_of(labels), value});
      return;
    }
    double& merged = members.all[found->second].value;
    merged = members.description.kind == metric_kind::maximum ? std::max(merged, value) : merged + value;
  }

  std::string joined() const {
    std::string text;
    for (const family& current : families_) append_family(text, current);
    return text;
  }

 private:
  struct series {
    std::string labels;
    double value;
  };
  struct family {
    const metric& description;
    std::vector<series> all;
    std::unordered_map<std::string, std::size_t> positions;  // in `all`, by the key of the labels
  };

  family& family_of(const metric& description) {
    const std::string_view name = description.name;
    for (family& current : families_)
      if (current.description.name == name) return current;
    return families_.emplace_back(family{description, {}, {}});
  }

  static void append_family(std::string& text, const family& members) {
    const metric& description = members.description;
    text.append("# HELP ").append(description.name).append(" ");
    append_escaped(text, description.help, false);
    text.append("\n# TYPE ").append(description.name);
    text += description.kind == metric_kind::counter ? " counter\n" : " gauge\n";
    for (const series& current : members.all) {
      text.append(description.name).append(current.labels).append(" ");
      append_value(text, current.value);
      text += '\n';
    }
  }

  std::vector<family> families_;
};

}  // namespace

std::string metrics_text() {
  text_of_metrics all;
  collect_metrics(all);
  return all.joined();
}

response metrics(request&) { return content("text/plain; version=0.0.4; charset=utf-8", metrics_text()); }

}}}  // namespace hocket::http
