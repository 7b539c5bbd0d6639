#!/usr/bin/env python3
"""Every call that can block and that a client library imports is hooked, or docs/blocking-clients.md says that it is not.

  imports_test.py <hooked.list> <blocking-clients.md> <program>

The program is one that is linked with hocket::hook: it exports each hooked name.
"""
import pathlib
import re
import subprocess
import sys

LIBRARIES = ["libpq.so.5", "libhiredis.so.0.14", "libmariadb.so.3", "libcurl.so.4", "libssl.so.3", "libcrypto.so.3",
             "libsqlite3.so.0", "libpython3.11.so.1.0"]
# Functions of libc that can block: the cancellation points of POSIX and Linux (pthreads(7)), and other functions. Left out:
# functions that wait for a disk only if a directory or an attribute is not in the cache (stat, rename, unlink ...).
CAN_BLOCK = set("""
  accept accept4 aio_suspend clock_nanosleep close closefrom close_range connect copy_file_range creat creat64 dup2 dup3
  epoll_pwait epoll_pwait2 epoll_wait fcntl fcntl64 fdatasync flock fsync getaddrinfo gethostbyaddr gethostbyaddr_r gethostbyname
  gethostbyname2 gethostbyname2_r gethostbyname_r getmsg getnameinfo getrandom getgrgid_r getgrnam_r eventfd_read eventfd_write getpwnam getpwnam_r
  getpwuid getpwuid_r getservbyname getservbyname_r getservbyport getservbyport_r io_getevents lockf lockf64 mq_receive
  mq_send mq_timedreceive mq_timedsend msgrcv msgsnd msync nanosleep open open64 openat openat64 pause pclose poll popen
  posix_fallocate posix_fallocate64 ppoll pread pread64 preadv preadv2 preadv64 preadv64v2 pselect pthread_clockjoin_np
  pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait pthread_join pthread_mutex_clocklock pthread_mutex_lock
  pthread_mutex_timedlock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_barrier_wait pthread_timedjoin_np pwrite pwrite64 pwritev
  pwritev2 pwritev64 pwritev64v2 read readv recv recvfrom recvmmsg recvmsg res_query res_search select sem_clockwait
  sem_timedwait sem_wait semop semtimedop send sendfile sendfile64 sendmmsg sendmsg sendto sigsuspend sigtimedwait sigwait
  sigwaitinfo sleep splice sync_file_range syncfs system tcdrain tee usleep vfork vmsplice wait wait3 wait4 waitid waitpid write writev
  __open_2 __open64_2 __openat_2 __openat64_2 __poll_chk __ppoll_chk __pread_chk __pread64_chk __read_chk __recv_chk
  __recvfrom_chk __res_nquery __res_nsearch fgets fread getline getdelim fgetc getc __fgets_chk __fread_chk fclose
""".split())


def undefined(library):
    """The names that `library` imports."""
    listed = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def exported(program):
    listed = subprocess.run(["nm", "-D", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def find(name):
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.search(rf"^\s*{re.escape(name)} .*=> (\S+)$", cache, re.MULTILINE)
    return found and found.group(1)


def documented(page):
    """The names in the section "What is not covered"."""
    part = page.partition("### What is not covered")[2].partition("\n### ")[0]
    return {name for words in re.findall(r"`([^`]+)`", part) for name in words.split()}


def main(hooked_list, page, program):
    hooked = set(re.findall(r"^\s+(\w+);", pathlib.Path(hooked_list).read_text(), re.MULTILINE))
    said = documented(pathlib.Path(page).read_text())
    wrong = [f"{name} is in {hooked_list}, and the program does not export it" for name in sorted(hooked - exported(program))]
    looked_at = 0
    for name in LIBRARIES:
        library = find(name)
        if not library:
            print(f"left out: {name} is not installed")
            continue
        looked_at += 1
        blocking = undefined(library) & CAN_BLOCK
        print(f"{name}: {len(blocking)} calls that can block, {len(blocking & hooked)} hooked")
        wrong += [f"{name} imports {call}: neither hooked nor said to be not covered" for call in sorted(blocking - hooked - said)]
    print("\n".join(wrong))
    return 1 if wrong or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
