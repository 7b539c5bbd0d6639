// Names: literals, and text of the caller.
#include <hocket/base/seam/literal_name.hpp>

#include <doctest/doctest.h>
#include <string>

using namespace hocket;

TEST_CASE("a literal is a name, and its address is kept") {
  static constexpr char text[] = "reader";
  constexpr literal_name name = text;
  CHECK(name.c_str() == text);
  CHECK(static_cast<bool>(name));
}

TEST_CASE("there may be no name") {
  CHECK_FALSE(static_cast<bool>(literal_name()));
  CHECK(literal_name().c_str() == nullptr);
  CHECK_FALSE(static_cast<bool>(outliving_name(nullptr)));
}

TEST_CASE("text that outlives what it names is not copied") {
  const std::string text(100, 'x');
  CHECK(outliving_name(text.c_str()).c_str() == text.c_str());
}
