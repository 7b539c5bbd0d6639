#include <hocket/http/access_log.hpp>
#include <hocket/http/request.hpp>

#include <array>
#include <cstdio>
#include <ctime>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace {

void append_escaped(std::string& line, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\') {
      line += c;
    } else {
      line += "\\x";
      line += digits[byte >> 4];
      line += digits[byte & 0xF];
    }
  }
}

void append_quoted(std::string& line, std::string_view text) {
  line += " \"";
  append_escaped(line, text.empty() ? "-" : text);
  line += '"';
}

// "[06/Nov/1994:08:49:37 +0000]"
void append_time(std::string& line, std::int64_t seconds) {
  constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "[%02d/%s/%04d:%02d:%02d:%02d +0000]", parts.tm_mday,
                                 months[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900, parts.tm_hour,
                                 parts.tm_min, parts.tm_sec);
  line.append(text.data(), static_cast<std::size_t>(size));
}

// Without the port. A unix socket has no address.
std::string host_of(const socket_address& address) {
  if (address.kind() == socket_address::family::unix_path || !address.is_valid()) return "-";
  std::string text = address.to_string();
  text.resize(text.rfind(':'));
  if (text.front() == '[') text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

std::string access_line(const access_record& record, std::int64_t now) {
  std::string line = host_of(record.client);
  line += " - - ";
  append_time(line, now);
  line += " \"";
  if (record.method.empty()) {
    line += '-';
  } else {
    append_escaped(line, record.method);
    line += ' ';
    append_escaped(line, record.target);
    line.append(" HTTP/1.").append(std::to_string(record.rq.minor_version()));
  }
  line.append("\" ").append(std::to_string(static_cast<int>(record.status)));
  line.append(" ").append(std::to_string(record.bytes_out));
  append_quoted(line, record.rq.header("Referer").value_or(""));
  append_quoted(line, record.rq.header("User-Agent").value_or(""));
  return line;
}

std::string access_line(const access_record& record) {
  return access_line(record, static_cast<std::int64_t>(std::time(nullptr)));
}

}}}  // namespace hocket::http
