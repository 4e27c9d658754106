// The reader of one table, and what is said about a text that is no TOML.
#include <regex>
#include <string>

#include <doctest/doctest.h>

#include "app/config_reader.hpp"

namespace {

using namespace holdfast;
using namespace holdfast::app;

/// A reader over a parsed text, with its problems.
struct Read {
  explicit Read(std::string_view toml)
      : node(parse_toml(toml).value()), in(&std::get<TomlTable>(node.value), 1, "", problems) {}

  std::string problem() const {
    if (problems.size() != 1) return std::to_string(problems.size()) + " problems";
    return std::to_string(problems[0].line) + " " + problems[0].key + " " + problems[0].sentence;
  }

  TomlNode node;
  Problems problems;
  ConfigReader in;
};

std::string not_toml(std::string_view text) {
  const auto tree = parse_toml(text);
  if (tree) return "it is";
  CHECK(tree.error().code == ConfigError::not_toml);
  return tree.error().detail;
}

}  // namespace

TEST_CASE("config reader: a key that is not there has its default and is no problem") {
  Read read("");
  CHECK(read.in.text("a", "b") == "b");
  CHECK_FALSE(read.in.maybe_text("a"));
  CHECK(read.in.number("a", 5, 1, 9) == 5);
  CHECK_FALSE(read.in.maybe_number("a", 1, 9));
  CHECK(read.in.flag("a", true));
  CHECK(read.in.amount("a", 7) == U256(7));
  CHECK(read.in.word("a", "x", {"x", "y"}) == "x");
  CHECK(read.in.texts("a").empty());
  CHECK(read.in.tables("a").empty());
  CHECK(read.in.table("a").number("b", 3, 1, 9) == 3);
  read.in.refuse_unknown_keys();
  CHECK(read.problems.empty());
}

TEST_CASE("config reader: a key that is there is read, at its limits too") {
  Read read("a = \"t\"\nb = 1\nc = 9\nd = false\ne = \"0\"\nf = \"y\"\ng = [\"p\", \"q\"]\n");
  CHECK(read.in.text("a", "b") == "t");
  CHECK(read.in.number("b", 5, 1, 9) == 1);
  CHECK(read.in.number("c", 5, 1, 9) == 9);
  CHECK_FALSE(read.in.flag("d", true));
  CHECK(read.in.amount("e", 7) == U256(0));
  CHECK(read.in.word("f", "x", {"x", "y"}) == "y");
  CHECK(read.in.texts("g") == std::vector<std::string>{"p", "q"});
  read.in.refuse_unknown_keys();
  CHECK(read.problems.empty());
}

TEST_CASE("config reader: after a problem the default goes on, so that all problems are found") {
  Read read("a = 10\nb = \"\"\n");
  CHECK(read.in.number("a", 5, 1, 9) == 5);
  CHECK(read.in.text("b", "x") == "x");
  CHECK(read.problems.size() == 2);
}

TEST_CASE("config reader: a problem names line and key in full") {
  Read read("\n[one]\n\n  [[one.two]]\n  [[one.two]]\n    x = 1\n");
  ConfigReader one = read.in.table("one");
  std::vector<ConfigReader> two = one.tables("two");
  REQUIRE(two.size() == 2);
  CHECK(two[1].text("x", "") == "");
  CHECK(read.problem() == "6 one.two.2.x must be a text in quotes");
}

TEST_CASE("config reader: a key that is missing is reported where its table begins") {
  Read read("\n\n[one]\n");
  read.in.table("one").problem("x", "is missing");
  CHECK(read.problem() == "3 one.x is missing");
}

TEST_CASE("config reader: only keys that nobody asked for are unknown") {
  Read read("a = 1\nb = 2\n");
  read.in.number("a", 1, 1, 1);
  read.in.refuse_unknown_keys();
  CHECK(read.problem() == "2 b is no key of this configuration");
}

TEST_CASE("config reader: a list of texts holds nothing else") {
  Read read("a = [\"p\", 1]\n");
  CHECK(read.in.texts("a") == std::vector<std::string>{"p"});
  CHECK(read.problem() == "1 a must be a list of texts");
}

TEST_CASE("toml: a text that is none is refused with its line") {
  for (const char* text :
       {"a = ", "a", "= 1", "a = 1 2", "[a", "a = \"x", "a = 'x\n'", "a = 1\na = 2", "[a]\n[a]",
        "a.b = 1\na = 2", "a = 0x", "a = 1__0", "a = tru", "\xff"}) {
    CAPTURE(text);
    CHECK(not_toml(text).starts_with("line "));
  }
  CHECK(not_toml("a = 1\n\nb = ?\n").starts_with("line 3: "));
  CHECK(not_toml("<html>\n").starts_with("line 1: "));
}

TEST_CASE("toml: nesting without end is refused, not followed") {
  std::string dotted = "a";
  for (int i = 0; i < 100'000; ++i) dotted += ".a";
  CHECK(not_toml("\n" + dotted + " = 1\n") == "line 2: a key has more than 32 parts");
  CHECK(not_toml("[" + dotted + "]\n") == "line 1: a key has more than 32 parts");
  CHECK(not_toml("b = {" + dotted + " = 1}\n") == "line 1: a key has more than 32 parts");
  CHECK(not_toml("a = " + std::string(100'000, '[')).starts_with("line 1: "));
  std::string both = "a = ";
  for (int i = 0; i < 200; ++i) both += "[\n{" + dotted.substr(0, 60) + " = ";
  CHECK(not_toml(both) == "line 17: brackets stand within more than 32 others");
  // Behind a text in three quotes, which has one of its own in it.
  for (const char* text : {"'''it's'''", R"("""an "inch\"""")", "'''it's\n'''''", R"("\\")"}) {
    CAPTURE(text);
    CHECK(not_toml("b = [" + std::string(text) + ", {" + dotted + " = 1}]\n")
              .ends_with(": a key has more than 32 parts"));
  }
  // Dots in texts and comments are not meant.
  const std::string dots(1'000, '.');
  CHECK(parse_toml("a = \"\\\"" + dots + "\"\nb = '" + dots + "' # " + dots + "\n").has_value());
  CHECK(parse_toml("a = '''it's\n" + dots + "'''\nb = \"\"\"\n" + dots + "\"\"\"\n").has_value());
}

TEST_CASE("toml: what is said about a text writes on a terminal and does nothing else to it") {
  CHECK(not_toml("a = i\x1b[2J").find('\x1b') == std::string::npos);
  CHECK(not_toml("\x1b = 1").find('\x1b') == std::string::npos);
  CHECK(not_toml("a = '\x07'").find('\x07') == std::string::npos);
  Read read("\"\\u001b[2J\" = 1\n");
  read.in.refuse_unknown_keys();
  CHECK(read.problem() == "1 ?[2J is no key of this configuration");
}

TEST_CASE("toml: what is said about a broken text holds nothing of it") {
  const std::string key(60, 'a');
  const std::string digits(400, '7');
  for (const char* broken :
       {"k = 0xKEY", "k = DIGITS", "k = DIGITS.0", "k = trueKEY", "k = infKEY",
        "k = http://user:KEY@host", "k = \"KEY", "k = \"\\qKEY\"", "k = 'KEY' 'KEY'", "KEY",
        "KEY = 1\nKEY = 2", "[KEY]\n[KEY]", "k = 1979-05-27TKEY"}) {
    const std::string text =
        std::regex_replace(std::regex_replace(std::string(broken), std::regex("KEY"), key),
                           std::regex("DIGITS"), digits);
    CAPTURE(text);
    const std::string said = not_toml(text);
    CHECK(said.starts_with("line "));
    CHECK(said.find("aaaaa") == std::string::npos);
    CHECK(said.find("77777") == std::string::npos);
  }
}
