#include <hocket/http/detail/date.hpp>

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

constexpr std::string_view day_names = "ThuFriSatSunMonTueWed";  // from 1970-01-01
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::array<std::string_view, 7> long_day_names{"Thursday", "Friday",  "Saturday", "Sunday",
                                                         "Monday",   "Tuesday", "Wednesday"};
constexpr std::int64_t day_seconds = 24 * 60 * 60;
constexpr std::int64_t last_second = 253'402'300'799;  // 9999-12-31 23:59:59

struct civil_date {
  int year;
  int month;  // 1 to 12
  int day;    // 1 to 31
};

constexpr bool is_leap_year(int year) noexcept { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }
constexpr int days_of_month(int month, int year) noexcept {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap_year(year) ? 1 : 0);
}
// The days from 1970-01-01 to the first day of a year.
constexpr std::int64_t days_before_year(int year) noexcept {
  const std::int64_t y = year - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 - 719'162;
}
constexpr std::int64_t days_before(const civil_date& date) noexcept {
  std::int64_t days = days_before_year(date.year) + date.day - 1;
  for (int month = 1; month != date.month; ++month) days += days_of_month(month, date.year);
  return days;
}
constexpr civil_date date_of(std::int64_t days) noexcept {
  civil_date date{static_cast<int>(1970 + days / 366), 1, 1};
  while (days_before_year(date.year + 1) <= days) ++date.year;
  int rest = static_cast<int>(days - days_before_year(date.year));
  for (; rest >= days_of_month(date.month, date.year); ++date.month) rest -= days_of_month(date.month, date.year);
  date.day = rest + 1;
  return date;
}
static_assert(days_before({2000, 3, 1}) == 11'017);
static_assert(date_of(11'016).month == 2 && date_of(11'016).day == 29);

void put_digits(char* end, int number, int digits) noexcept {
  for (; digits != 0; --digits, number /= 10) *--end = static_cast<char>('0' + number % 10);
}

// Reads a date from its begin.
class date_reader {
 public:
  explicit date_reader(std::string_view text) noexcept : rest_(text) {}

  bool is_good() const noexcept { return is_good_ && rest_.empty(); }
  void expect(std::string_view text) noexcept {
    if (!rest_.starts_with(text)) return fail();
    rest_.remove_prefix(text.size());
  }
  int number(std::size_t digits) noexcept {
    int value = 0;
    for (std::size_t i = 0; i != digits; ++i) {
      if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return fail(), 0;
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  // The day of asctime: two characters, of which the first may be a space.
  int padded_number() noexcept {
    if (!rest_.starts_with(' ')) return number(2);
    rest_.remove_prefix(1);
    return number(1);
  }
  // The index of a name of three letters.
  int name(std::string_view names) noexcept {
    const std::size_t at = rest_.size() < 3 ? names.npos : names.find(rest_.substr(0, 3));
    if (at == names.npos || at % 3 != 0) return fail(), 0;
    rest_.remove_prefix(3);
    return static_cast<int>(at / 3);
  }
  std::int64_t time_of_day() noexcept {
    const int hour = number(2);
    expect(":");
    const int minute = number(2);
    expect(":");
    const int second = number(2);
    if (hour > 23 || minute > 59 || second > 60) fail();
    return hour * 3600 + minute * 60 + std::min(second, 59);  // a leap second
  }
  void fail() noexcept { is_good_ = false; }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

struct moment {
  civil_date date{1970, 1, 1};
  std::int64_t time = 0;
};

std::optional<std::int64_t> seconds_of(const date_reader& reader, const moment& read) noexcept {
  const civil_date& date = read.date;
  if (!reader.is_good() || date.year < 1970 || date.day < 1 || date.day > days_of_month(date.month, date.year))
    return std::nullopt;
  return days_before(date) * day_seconds + read.time;
}

std::optional<std::int64_t> parse_fixdate(std::string_view text) noexcept {
  date_reader reader(text);
  moment read;
  reader.name(day_names);
  reader.expect(", ");
  read.date.day = reader.number(2);
  reader.expect(" ");
  read.date.month = reader.name(month_names) + 1;
  reader.expect(" ");
  read.date.year = reader.number(4);
  reader.expect(" ");
  read.time = reader.time_of_day();
  reader.expect(" GMT");
  return seconds_of(reader, read);
}

std::optional<std::int64_t> parse_asctime(std::string_view text) noexcept {
  date_reader reader(text);
  moment read;
  reader.name(day_names);
  reader.expect(" ");
  read.date.month = reader.name(month_names) + 1;
  reader.expect(" ");
  read.date.day = reader.padded_number();
  reader.expect(" ");
  read.time = reader.time_of_day();
  reader.expect(" ");
  read.date.year = reader.number(4);
  return seconds_of(reader, read);
}

std::optional<std::int64_t> parse_rfc850(std::string_view text, std::int64_t now) noexcept {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  if (std::find(long_day_names.begin(), long_day_names.end(), text.substr(0, comma)) == long_day_names.end())
    return std::nullopt;
  date_reader reader(text.substr(comma));
  moment read;
  reader.expect(", ");
  read.date.day = reader.number(2);
  reader.expect("-");
  read.date.month = reader.name(month_names) + 1;
  reader.expect("-");
  const int present_year = date_of(std::clamp<std::int64_t>(now, 0, last_second) / day_seconds).year;
  read.date.year = present_year / 100 * 100 + reader.number(2);
  if (read.date.year > present_year + 50) read.date.year -= 100;
  reader.expect(" ");
  read.time = reader.time_of_day();
  reader.expect(" GMT");
  return seconds_of(reader, read);
}

}  // namespace

date_text format_date(std::int64_t seconds) noexcept {
  seconds = std::clamp<std::int64_t>(seconds, 0, last_second);
  const std::int64_t days = seconds / day_seconds;
  const int time = static_cast<int>(seconds % day_seconds);
  const civil_date date = date_of(days);
  date_text text;
  std::memcpy(text.data(), "Thu, 00 Jan 0000 00:00:00 GMT", date_size);
  std::memcpy(text.data(), day_names.data() + days % 7 * 3, 3);
  std::memcpy(text.data() + 8, month_names.data() + (date.month - 1) * 3, 3);
  put_digits(text.data() + 7, date.day, 2);
  put_digits(text.data() + 16, date.year, 4);
  put_digits(text.data() + 19, time / 3600, 2);
  put_digits(text.data() + 22, time / 60 % 60, 2);
  put_digits(text.data() + 25, time % 60, 2);
  return text;
}

std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now) noexcept {
  if (text.size() == date_size && text[3] == ',') return parse_fixdate(text);
  if (text.size() == 24 && text[3] == ' ') return parse_asctime(text);
  return parse_rfc850(text, now);
}

}}}}  // namespace hocket::http::detail
