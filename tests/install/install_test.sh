#!/bin/sh
# Installs the client library into a fresh prefix, moves that prefix, and builds and runs a small program against it, once
# with find_package(sluice) and once with pkg-config.
#
# Usage: install_test.sh BUILD_DIR SOURCE_DIR CXX [FLAGS...]     FLAGS: what the library was built with (sanitizers)
set -eu

build=$1
source=$2
cxx=$3
shift 3
flags=$*

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --component client --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix" # nothing may point to where it was installed
prefix=$work/prefix

echo "headers name no foreign library"
if grep -rnE '#include *[<"](zmq|msgpack|absl|tl|boost)' "$prefix/include"; then
  echo "a public header includes a foreign library" >&2
  exit 1
fi

echo "find_package"
cmake -S "$source/tests/install/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_CXX_FLAGS="$flags" >"$work/configure.log" || { cat "$work/configure.log" >&2; exit 1; }
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log" >&2; exit 1; }
"$work/build/downstream"

echo "pkg-config"
pc=$(find "$prefix" -name sluice.pc -printf '%h')
# shellcheck disable=SC2046,SC2086 # words are meant to be split
PKG_CONFIG_PATH=$pc "$cxx" -std=c++20 $flags "$source/tests/install/consumer/main.cpp" -o "$work/by_pkg_config" \
  $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs sluice)
"$work/by_pkg_config"
