// I/O and network: descriptors, streams, signals, TCP, servers.
#pragma once
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/io/buffer.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/buffered_writer.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/limited_stream.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/net/address.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/socket_stream.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
