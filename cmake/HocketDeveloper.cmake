# What a developer's build has and a user's or a packager's must not: the presets include this by HOCKET_DEVELOPER.
# It comes before the first target, because launchers and link options are taken when a target is made.
set(HOCKET_WERROR ON)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  # g++ 12 instruments first and warns afterwards: of mismatched new and delete, and of uninitialised values, wrongly.
  set(HOCKET_WERROR OFF)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(HOCKET_CCACHE ccache)
if(HOCKET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # By the compiler's list of dependencies, not by preprocessing first: a miss costs no more than the compiler alone. By
  # relative paths: the copies of a tree (build/mutants) find its objects. Two checkouts do not share objects: those
  # contain paths, by which gdb finds its script and the model tells operations apart. The two words of sloppiness are
  # what precompiled headers need.
  string(REGEX REPLACE "/build/.*" "" HOCKET_CHECKOUT "${PROJECT_SOURCE_DIR}")
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_DEPEND=1 "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    "CCACHE_NAMESPACE=${HOCKET_CHECKOUT}" CCACHE_SLOPPINESS=pch_defines,time_macros "${HOCKET_CCACHE}")
  set(CMAKE_ASM_COMPILER_LAUNCHER "${HOCKET_CCACHE}")
endif()

# clang finds its own lld beside itself; GNU ld cannot read clang's LTO objects. g++ stays with GNU ld: Debian's lld
# has a versioned name that g++ does not know.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld HOCKET_LLD_WORKS)
  if(HOCKET_LLD_WORKS)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
