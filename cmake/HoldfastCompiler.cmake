# Compiler, warnings, sanitizers and ccache: everything that holds for each translation unit.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  message(FATAL_ERROR
    "g++ ${CMAKE_CXX_COMPILER_VERSION} cannot build holdfast: g++ below 13 miscompiles everyday "
    "C++20 coroutines (objects destroyed twice, illegal instructions). Use clang 19, the compiler "
    "of the presets: cmake --preset dev, or tools/build.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug or RelWithDebInfo" FORCE)
endif()

# Asserts are on in every build, and line tables are enough debug information for a backtrace.
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

add_compile_definitions(_GLIBCXX_ASSERTIONS)

add_compile_options(
  -Wall -Wextra -Wpedantic -Werror
  -Wshadow -Wconversion -Wno-sign-conversion -Wold-style-cast -Wcast-align -Wextra-semi
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wnull-dereference)

# Messages and stacks name src/engine/settle.cpp, not a folder of the machine that built it.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
endif()

# "address,undefined" or "thread"; see the presets asan and tsan. With "fuzzer-no-link" the objects
# tell libFuzzer where they have been: one build serves the tests and tools/fuzz.
set(HOLDFAST_SANITIZE "" CACHE STRING "Sanitizers to build with, comma-separated")
if(HOLDFAST_SANITIZE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
endif()

# With the base folder known, a second clone on the same machine hits the cache of the first.
find_program(HOLDFAST_CCACHE ccache)
if(HOLDFAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
    "CCACHE_ABSSTDERR=1" "${HOLDFAST_CCACHE}")
endif()
