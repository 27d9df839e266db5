# Builds for aarch64 on another machine and runs the tests in an emulator. `tools/setup cross` brings what
# it names; the libraries are Debian's own of that architecture.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)

set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# What libsimdjson-dev and libpq-dev have for pkg-config and the linker: Debian installs these packages for one
# architecture at a time. Once only: CMake reads this file again for each of its trials, in folders that do not last.
get_property(is_trial GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT is_trial)
  set(cross_parts ${CMAKE_BINARY_DIR}/cross)
  file(MAKE_DIRECTORY ${cross_parts})
  file(CREATE_LINK /usr/lib/aarch64-linux-gnu/libsimdjson.so.14 ${cross_parts}/libsimdjson.so SYMBOLIC)
  file(WRITE ${cross_parts}/simdjson.pc
    "Name: simdjson\nDescription: JSON, parsed\nVersion: 3.0.1\nLibs: -L${cross_parts} -lsimdjson\n")
  file(CREATE_LINK /usr/lib/aarch64-linux-gnu/libpq.so.5 ${cross_parts}/libpq.so SYMBOLIC)
  file(WRITE ${cross_parts}/libpq.pc
    "Name: libpq\nDescription: PostgreSQL's client\nVersion: 15\nLibs: -L${cross_parts} -lpq\nCflags: -I/usr/include/postgresql\n")
  set(ENV{PKG_CONFIG_LIBDIR} ${cross_parts}:/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
endif()
