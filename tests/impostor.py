"""A program that takes the port of a server, and keeps what it is sent."""

import errno
import socket
import threading
import time

_BODY = b'{"name":"influxdb","message":"ready for queries and writes","status":"pass","checks":[]}'
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY


def _listener(port, within_s=300):
    """A socket that listens; a server that was killed may still hold the port for a moment."""
    until = time.monotonic() + within_s
    while True:
        try:
            return socket.create_server(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > until:
                raise
        time.sleep(0.02)


class Impostor:
    """Listens on a port of this machine, and answers every request as a healthy InfluxDB does.

    `received` is what it was sent, `connections` how many it accepted.
    """

    def __init__(self, port):
        self.received, self.connections = b"", 0
        self._listener = _listener(port)

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # Closing alone does not end accept().
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def has(self, *secrets):
        """Whether it was sent one of these texts."""
        return any(secret.encode() in self.received for secret in secrets)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=[connection], daemon=True).start()

    def _answer(self, connection):
        with connection:
            while sent := connection.recv(1 << 16):
                self.received += sent
                connection.sendall(_ANSWER)
