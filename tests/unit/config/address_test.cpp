#include "config/address.h"

#include <string>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace sluice;
using namespace sluice::config;

TEST_CASE("address: TCP with a host and a port, and IPC with a path, are good") {
  for (const char* address : {"tcp://127.0.0.1:5570", "tcp://127.0.0.1:0", "tcp://127.0.0.1:*", "tcp://*:5570",
                              "tcp://[::1]:5570", "tcp://[fe80::1]:1", "tcp://broker.example.com:65535",
                              "tcp://eth0:5570", "ipc:///run/sluice.sock", "ipc://relative", "ipc://@abstract"}) {
    CAPTURE(address);
    CHECK(check_listen_address(address).has_value());
  }
}

TEST_CASE("address: anything else is refused with rule, value and detail") {
  for (const char* address : {"",
                              "127.0.0.1:5570",
                              "tcp://",
                              "tcp://:5570",
                              "tcp://127.0.0.1",
                              "tcp://127.0.0.1:",
                              "tcp://127.0.0.1:65536",
                              "tcp://127.0.0.1:-1",
                              "tcp://127.0.0.1:5570x",
                              "tcp://127.0.0.1:+1",
                              "tcp://::1:5570",
                              "tcp://[::1:5570",
                              "tcp://[hello]:5570",
                              "tcp://a b:1",
                              "tcp://a/b:1",
                              "TCP://127.0.0.1:1",
                              "udp://127.0.0.1:1",
                              "inproc://x",
                              "ipc://",
                              "ipc://*",
                              "pgm://eth0;1.1.1.1:1",
                              "tcp://eth0;127.0.0.1:1",
                              "ipc:///tmp/\n"}) {
    CAPTURE(address);
    const auto refused = check_listen_address(address);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::bad_field);
    CHECK(refused.error().text.find("tcp://HOST:PORT") != std::string::npos);
  }
}

TEST_CASE("address: an IPC path is as long as the system allows, and no longer") {
  CHECK(check_listen_address("ipc://" + std::string(107, 'x')).has_value());
  CHECK_FALSE(check_listen_address("ipc://" + std::string(108, 'x')).has_value());
}

TEST_CASE("address: loopback and IPC are local") {
  for (const char* address :
       {"tcp://127.0.0.1:5570", "tcp://127.8.9.1:1", "tcp://localhost:1", "tcp://[::1]:1", "ipc:///run/x"}) {
    CAPTURE(address);
    CHECK(is_local_address(address));
  }
}

TEST_CASE("address: what only looks like loopback is not local") {
  for (const char* address :
       {"tcp://*:1", "tcp://0.0.0.0:1", "tcp://127.example.com:1", "tcp://127.0.0.1.example.com:1", "tcp://127.1:1",
        "tcp://0177.0.0.1:1", "tcp://127.0.0.01:1", "tcp://[::]:1", "tcp://[::ffff:127.0.0.1]:1", "tcp://lo:1",
        "tcp://localhost.example.com:1", "tcp://10.0.0.1:1", "tcp://2130706433:1"}) {
    CAPTURE(address);
    REQUIRE(check_listen_address(address).has_value());
    CHECK_FALSE(is_local_address(address));
  }
}

TEST_CASE("address: any bytes are judged without harm") {
  CHECK(rc::check([](const std::string& text) {
    for (const char* transport : {"", "tcp://", "ipc://", "tcp://[", "tcp://127."}) {
      const std::string address = transport + text;
      if (check_listen_address(address)) (void)is_local_address(address);
    }
  }));
}
