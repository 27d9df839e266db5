#include <gtest/gtest.h>

#include "ingest/read/read.hpp"
#include "ingest/read/testing_read.hpp"

namespace plimsoll::ingest {
namespace {

TEST(Code, PythonByClassAndFunction) {
  EXPECT_EQ(outline(read("\"\"\"Doc.\"\"\"\nimport os\n\n# On A.\n@deco\nclass A(Base):\n    x = 1\n\n    "
                         "def f(self):\n        return 1\n\n"
                         "    @property\n    def g(self):\n        return 2\n\ndef top(\n    a, b):\n    "
                         "pass\n\nif x:\n    top(1)\n",
                         "a.py")),
            "c \"\"\"Doc.\"\"\"/import os\nc <A> [class A(Base):] # On A./@deco/class A(Base):/    x = 1\n"
            "c <A > f> [def f(self):] def f(self):/        return 1\n"
            "c <A > g> [def g(self):] @property/    def g(self):/        return 2\n"
            "c <top> [def top( a, b):] def top(/    a, b):/    pass\nc if x:/    top(1)\n");
}

TEST(Code, CppByNamespaceClassAndFunction) {
  EXPECT_EQ(outline(read("#include <a>\n\nnamespace n {\n\n// Holds.\ntemplate <typename T>\nclass Box : "
                         "Base {\n public:\n  int size() const { return 1; }\n\n"
                         " private:\n  int x_;\n};\n\nstatic int* find(int a) {\n  return &a;\n}\n\n}  // "
                         "namespace n\n\nint Box::last() { return 2; }\n",
                         "a.cpp")),
            "c #include <a>\nc <n> [namespace n] namespace n {\n"
            "c <n > Box> [class Box : Base] // Holds./template <typename T>/class Box : Base {/ public:\n"
            "c <n > Box > size> [int size() const] int size() const { return 1; }\n"
            "c <n > Box> [class Box : Base] private:/  int x_;/};\n"
            "c <n > find> [static int* find(int a)] static int* find(int a) {/  return &a;/}//}\n"
            "c // namespace n\nc <Box::last> [int Box::last()] int Box::last() { return 2; }\n");
}

TEST(Code, EveryLanguageFindsItsFunctions) {
  struct Case {
    std::string_view name, text, expected;
  };
  for (const Case& one : {
           Case{"a.c", "struct stat s;\nint add(int a, int b) {\n  return a + b;\n}\nstruct P { int x; };\n",
                "add P"},
           Case{"a.js",
                "export const area = (r) => r * r;\nclass A { go() { return 1; } }\nfunction f() {}\n",
                "area A go f"},
           Case{"a.jsx", "function App() { return <div>hi</div>; }\n", "App"},
           Case{"a.ts",
                "export interface P { x: number }\nenum E { A }\nnamespace N { export function g(): void {} "
                "}\n",
                "P E N g"},
           Case{"a.tsx", "const App: FC = () => <b/>;\nabstract class Q<T> { m(): T { return this.t; } }\n",
                "App Q m"},
           Case{"a.go",
                "package p\n\ntype S struct{ X int }\n\nfunc (s *S) M() int { return 1 }\n\nfunc F() {}\n",
                "S M F"},
           Case{"a.rs",
                "/// Doc.\n#[derive(Debug)]\nstruct P { x: i32 }\nimpl P { fn m(&self) -> i32 { 1 } }\nmod k "
                "{ fn z() {} }\n",
                "P impl P m k z"},
           Case{"a.java",
                "package p;\nclass A {\n  int x;\n  A() {}\n  /** Doc. */\n  int m() { return 1; "
                "}\n}\nrecord R(int x) {}\n",
                "A A m R"},
       }) {
    const ReadDocument code = read(one.text, one.name);
    std::string titles;
    for (std::size_t i = 1; i < code.sections.size(); ++i)
      titles += (i > 1 ? " " : "") + code.sections[i].title;
    EXPECT_EQ(titles, one.expected) << one.name << "\n" << outline(code);
  }
}

TEST(Code, CommentsAboveADefinitionBelongToIt) {
  EXPECT_EQ(outline(read("// Of the file.\n\n// Adds.\n// Two lines.\nfunc F() {}\n", "a.go")),
            "c // Of the file.\nc <F> [func F()] // Adds./// Two lines./func F() {}\n");
}

TEST(Code, WhatIsBrokenIsReadAllTheSame) {
  const ReadDocument code = read("def a(:\n  x = [\n\nclass\n\ndef b():\n    return 1\n", "a.py");
  EXPECT_FALSE(code.blocks.empty());
  EXPECT_EQ(outline(read("}}}} ((((\n", "a.cpp")), "c }}}} ((((\n");
}

TEST(Code, DepthCostsNoStack) {
  std::string deep;
  for (int i = 0; i < 30'000; ++i) deep += "namespace a {";
  EXPECT_LE(read(deep, "a.cpp").sections.size(), 10U);
  deep.clear();
  for (int i = 0; i < 100'000; ++i) deep += '(';
  read(deep, "a.py");
  read(deep, "a.js");
}

}  // namespace
}  // namespace plimsoll::ingest
