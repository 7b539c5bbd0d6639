"""Restricted words: what is dangerous has one home.

Resuming, destroying and making handles, assembly, thread-local storage, conditional compilation, machine macros, bare
std::atomic and printing may stand in the library's sources only in the files that tools/check/allowed.txt names, each
with its reason. A permission that nothing uses is reported, so the list stays as short as the truth.
"""
import fnmatch

from .tree import Finding, matches, table

FAST = True
LIST = "tools/check/allowed.txt"

WORDS = {
    "resume": (r"(?:\.|->)\s*resume\s*\(", "only a worker loop, sync_wait and asymmetric owners resume a handle"),
    "destroy": (r"(?:\.|->)\s*destroy\s*\(", "only the owner of a raw coroutine, generator or task destroys a handle"),
    "from-address": (r"\bfrom_address\s*\(", "a handle is made from an address in core/frame alone"),
    "asm": (r"\b(?:__)?asm(?:__)?\b", "machine code has one home: context"),
    "thread-local": (r"\bthread_local\b|\b__thread\b", "a thread's own state is reached through core/current"),
    "conditional": (r"(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b",
                    "conditional compilation lives in platform folders"),
    "machine": (r"\b(?:__x86_64__|__aarch64__|__riscv\w*|__linux__|__unix__|__GNUC__|__clang__|__GLIBC__|"
                r"__SANITIZE_\w+|__has_feature|_WIN32|__APPLE__|__CET__|__AVX\w*)\b", "what the machine is, a platform folder says"),
    "std-atomic": (r"\bstd::atomic\w*", "primitive::atomic and primitive::fence, so that the model checker sees it"),
    "print": (r"\b(?:f|v|vf|d)?printf\s*\(|\bf?puts\s*\(|\bperror\s*\(|\bstd::c(?:out|err|log)\b|"
              r"\bSTD(?:OUT|ERR)_FILENO\b|\bstd(?:out|err)\b", "nothing prints but base/fatal: use notice()"),
}


def check(tree):
    allowed = table(tree, LIST, 3)
    used, findings = set(), []
    for path in tree.paths("include", "src", "ext/asio/include", "ext/gc/include", "ext/gc/src", "ext/gc/boehm", "ext/hook/include", "ext/hook/src", "ext/pg/include", "ext/pg/src", "ext/redis/include", "ext/redis/src"):
        for word, (pattern, why) in WORDS.items():
            hits = [line for line, _ in matches(tree, path, pattern)]
            if word == "asm" and path.endswith(".S"):
                hits = [1]
            permits = [number for number, glob, rule, _ in allowed if rule == word and fnmatch.fnmatch(path, glob)]
            if hits and permits:
                used.update(permits)
            elif hits:
                findings += [Finding(path, line, f"{word}: {why}; or give a reason in {LIST}") for line in hits]
    return findings + list(check_list(allowed, used))


def check_list(allowed, used):
    for number, glob, word, reason in allowed:
        if word not in WORDS:
            yield Finding(LIST, number, f"no rule named '{word}'; there are {' '.join(WORDS)}")
        elif not reason:
            yield Finding(LIST, number, f"{glob}: no reason")
        elif number not in used:
            yield Finding(LIST, number, f"{glob} needs no permission for {word}: take the line out")
