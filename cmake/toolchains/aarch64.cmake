# Linux on aarch64, by Debian's cross compiler g++-aarch64-linux-gnu, or by clang (-DCMAKE_CXX_COMPILER=clang++-19) with that
# one's libraries. What runs programs of the target is CMAKE_CROSSCOMPILING_EMULATOR: see the preset aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++ CACHE STRING "compiler for aarch64")
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_ASM_COMPILER_TARGET aarch64-linux-gnu)
# Programs are the host's, and so are packages without machine code (doctest); libraries are not.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
