"""exchange(): sends the pieces of a request on a connection of its own, ends the output, and returns all that the server sends."""
import contextlib
import errno
import socket


def end_output(peer):
    """After a reset the socket is not connected; that is a ConnectionError, too."""
    try:
        peer.shutdown(socket.SHUT_WR)
    except OSError as fault:
        if fault.errno != errno.ENOTCONN:
            raise
        raise ConnectionError(*fault.args) from fault


def exchange(port, pieces, seconds=20):
    answer = b""
    with socket.create_connection(("127.0.0.1", port), seconds) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):   # it was refused before all of it was sent
            for piece in pieces:
                peer.sendall(piece)
            end_output(peer)
        with contextlib.suppress(ConnectionError):   # what arrived before a reset can be read
            while data := peer.recv(65536):
                answer += data
    return answer
