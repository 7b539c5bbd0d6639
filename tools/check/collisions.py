"""Collisions: no public name is a name of C or POSIX, so `using namespace hocket` beside their headers is unambiguous.

What the headers declare is read from their preprocessed text. A name that stays in spite of one is in ALLOWED, with the test
that shows that both can be called.
"""
import re

from .doors import rows
from .tools import Unavailable, compilers, output
from .tree import Finding

FAST = True
HEADERS = """aio.h arpa/inet.h dirent.h errno.h fcntl.h grp.h locale.h math.h mqueue.h netdb.h netinet/in.h netinet/tcp.h poll.h
pthread.h pwd.h sched.h search.h semaphore.h setjmp.h signal.h spawn.h stdio.h stdlib.h string.h strings.h sys/epoll.h
sys/eventfd.h sys/inotify.h sys/ioctl.h sys/mman.h sys/msg.h sys/resource.h sys/select.h sys/sem.h sys/shm.h sys/signalfd.h
sys/socket.h sys/stat.h sys/time.h sys/timerfd.h sys/types.h sys/uio.h sys/un.h sys/wait.h syslog.h termios.h time.h
ucontext.h unistd.h utime.h wchar.h""".split()
ALLOWED = {"select": "tests/unit/sync/posix_names_test.cpp"}


def top_level(text):
    """The text outside of braces and parentheses: members and parameters are no names of their own."""
    outside, depth = [], 0
    for token in re.findall(r"[A-Za-z_]\w*|[^\s\w]", text):
        depth -= token in ")}]"
        if depth == 0:
            outside.append(token)
        depth += token in "({["
    return set(outside)


def names_of_the_system():
    command = [compilers()[0], "-E", "-D_GNU_SOURCE", "-x", "c", "-"]
    includes = "".join(f"#include <{name}>\n" for name in HEADERS)
    code, text = output([*command, "-P"], includes)
    if code != 0:
        raise Unavailable(f"the system's headers cannot be read: {text[:200]}")
    _, macros = output([*command, "-dM"], includes)
    return top_level(text) | set(re.findall(r"^#define (\w+)", macros, re.MULTILINE))


def check(tree):
    offered = {name: (f"include/hocket/{header}", number) for header, (number, names) in rows(tree).items() for name in names}
    if not offered:
        return []
    taken = names_of_the_system()
    findings = [Finding("docs/headers.md", offered[name][1], f"{name} is a name of C or POSIX: find another one")
                for name in sorted(set(offered) & taken - set(ALLOWED))]
    return findings + [Finding("tools/check/collisions.py", 0, f"{name} is allowed because of {test}, which does not exist")
                       for name, test in ALLOWED.items() if test not in tree.texts and name in offered]
