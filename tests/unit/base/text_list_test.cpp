// What a list of texts may be written as.
#include <hocket/base/seam/text_list.hpp>

#include <array>
#include <doctest/doctest.h>
#include <span>
#include <string>
#include <vector>

using namespace hocket;

namespace {

std::string joined(const text_list& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all.append(texts[i]).append("|");
  return all;
}
std::string joined_arguments(const text_arguments& texts) { return joined(texts.list()); }

}  // namespace

TEST_CASE("a list of texts views any container of texts") {
  const std::vector<std::string> strings{"a", "b"};
  const std::string_view views[] = {"c", "d"};
  const char* const pointers[] = {"e"};
  CHECK(joined(strings) == "a|b|");
  CHECK(joined(views) == "c|d|");
  CHECK(joined(std::span(views).first(1)) == "c|");
  CHECK(joined(pointers) == "e|");
  CHECK(joined(std::array<std::string_view, 0>()).empty());
  CHECK(joined({}).empty());
}

TEST_CASE("texts in braces may be of several types, and a container takes their place") {
  const std::string text = "b";
  CHECK(joined_arguments({"a", text, std::string(100, 'e')}).size() == 2 + 2 + 101);
  CHECK(joined_arguments({text, std::string_view("c\0d", 3)}) == std::string("b|c\0d|", 6));
  CHECK(joined_arguments({text}) == "b|");
  CHECK(joined_arguments({""}) == "|");
  CHECK(joined_arguments({}).empty());
  CHECK(joined_arguments(std::vector<std::string>(40, "x")).size() == 80);
}
