// I/O and network: descriptors, streams, signals, TCP, servers.
#pragma once
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/net/address.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/socket_stream.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
