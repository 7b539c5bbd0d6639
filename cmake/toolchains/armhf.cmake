# Linux on armhf, by Debian's cross compiler g++-arm-linux-gnueabihf, or by clang (-DCMAKE_CXX_COMPILER=clang++-19) with that
# one's libraries. What runs programs of the target is CMAKE_CROSSCOMPILING_EMULATOR: see the preset armhf.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++ CACHE STRING "compiler for armhf")
set(CMAKE_CXX_COMPILER_TARGET arm-linux-gnueabihf)
set(CMAKE_ASM_COMPILER_TARGET arm-linux-gnueabihf)
# Programs are the host's, and so are packages without machine code (doctest); libraries are not.
set(CMAKE_FIND_ROOT_PATH /usr/arm-linux-gnueabihf)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
