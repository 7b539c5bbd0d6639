#include <hocket/base/metrics.hpp>
#include <hocket/http/metrics.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
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

// All values of a metric stand together, whatever source they are from. A metric is identified by its name.
class text_of_metrics final : public metric_visitor {
 public:
  void add(const metric& description, std::initializer_list<metric_label> labels, double value) override {
    std::string& text = text_of(description);
    text += description.name;
    char separator = '{';
    for (const metric_label& label : labels) {
      text += separator;
      text.append(label.name).append("=\"");
      append_escaped(text, label.value, true);
      text += '"';
      separator = ',';
    }
    if (separator == ',') text += '}';
    text += ' ';
    append_value(text, value);
    text += '\n';
  }

  std::string joined() const {
    std::string all;
    for (const family& current : families_) all += current.text;
    return all;
  }

 private:
  struct family {
    std::string_view name;
    std::string text;
  };

  std::string& text_of(const metric& description) {
    for (family& current : families_)
      if (current.name == description.name) return current.text;
    family& added = families_.emplace_back(family{description.name, {}});
    added.text.append("# HELP ").append(description.name).append(" ");
    append_escaped(added.text, description.help, false);
    added.text.append("\n# TYPE ").append(description.name);
    added.text += description.kind == metric_kind::counter ? " counter\n" : " gauge\n";
    return added.text;
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
