# Linux on s390x, by Debian's cross compiler g++-s390x-linux-gnu, or by clang (-DCMAKE_CXX_COMPILER=clang++-19) with that
# one's libraries. What runs programs of the target is CMAKE_CROSSCOMPILING_EMULATOR: see the preset s390x.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++ CACHE STRING "compiler for s390x")
set(CMAKE_CXX_COMPILER_TARGET s390x-linux-gnu)
set(CMAKE_ASM_COMPILER_TARGET s390x-linux-gnu)
# Programs are the host's, and so are packages without machine code (doctest); libraries are not.
set(CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
