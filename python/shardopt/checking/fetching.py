"""Answers of a server over HTTP: small, soon, and one line where there is none."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass

from ..border import parse_json, shown
from ..errors import ShardoptError, WrongValue

#: Bytes of an answer at most.
MOST_BYTES = 16 << 20


class NoAnswer(ShardoptError):
    """A server that cannot be reached, or does not answer as HTTP does."""


@dataclass(frozen=True)
class Answer:
    """What a path answered: its status, and its text."""

    url: str
    status: int
    text: str

    @property
    def ok(self) -> bool:
        return self.status == 200

    def json(self) -> object:
        return parse_json(self.text, f"'{self.url}' answers no JSON")


class _Staying(urllib.request.HTTPRedirectHandler):
    """Answers of another place are not the server's."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Staying())


def base_of(url: str) -> str:
    """The URL of a server without its path; an error where it is none."""
    try:
        parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname)
        port = parts.port
    except ValueError:
        is_url, port = False, None
    if not is_url or any(char.isspace() for char in url):
        raise WrongValue(
            f"'--server' is {shown(url)}, expected a URL such as http://localhost:8000"
        )
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def fetch(base: str, path: str, timeout_s: float) -> Answer:
    """What `path` answers within `timeout_s` in all; `NoAnswer` where it does not."""
    url = base + path
    until = time.monotonic() + timeout_s
    try:
        with _OPENER.open(url, timeout=timeout_s) as response:
            return Answer(url, response.status, _read(url, response, until, timeout_s))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(url, error.code, "")
    except NoAnswer:  # a ValueError too
        raise
    except TimeoutError:
        raise _late(url, timeout_s) from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise _late(url, timeout_s) from None
        why = getattr(error.reason, "strerror", None) or error.reason
        raise NoAnswer(f"'{url}' cannot be reached: {' '.join(str(why).split())[:200]}") from None
    except (http.client.HTTPException, OSError, ValueError) as error:
        said = " ".join(str(error).split())
        why = said[:200] if said.isprintable() and said else type(error).__name__
        raise NoAnswer(f"'{url}' does not answer as HTTP does: {why}") from None


def _late(url: str, timeout_s: float) -> NoAnswer:
    return NoAnswer(f"'{url}' did not answer within {timeout_s:g} s (--timeout)")


def _read(url: str, response: http.client.HTTPResponse, until: float, timeout_s: float) -> str:
    """The text of an answer that may come slowly."""
    found = bytearray()
    while True:
        piece = response.read1(1 << 16)
        if not piece:
            return found.decode("utf-8", errors="replace")
        found += piece
        if len(found) > MOST_BYTES:
            raise NoAnswer(f"'{url}' answers more than {MOST_BYTES >> 20} MB")
        if time.monotonic() > until:
            raise _late(url, timeout_s)
