"""Options: aggregates that public calls take own nothing, and a call that takes views copies before it returns its task.

g++ 11 and 12 destroy an aggregate twice that a co_await expression makes: `co_await f({.text = ...})`. So each aggregate
that a public function takes, by value or by reference, has a static_assert of its trivial destructor beside it. And since
the remedy for other wrong patterns is two statements, `auto t = f(...); co_await std::move(t);`, a public function that
returns a task and takes a view, or an aggregate by reference, is no coroutine itself. Buffers are the caller's until
the await returns. docs/decisions/040-options-are-views.md
"""
import collections
import functools
import re

from .outline import declarations, function_of, is_coroutine, split, type_of
from .tree import Finding

FAST = True
PAGE = "docs/decisions/040-options-are-views.md"
PUBLIC = re.compile(r"(include|ext/\w+/(\w+/)?include)/.*\.hpp$")
PRIVATE = re.compile(r"(src|ext/\w+/(\w+/)?src)/.*\.(cpp|hpp)$")
PARAMETER = re.compile(r"^(?P<const>const )?(?:typename )?(?P<type>[\w:]+(?:<.*>)?)(?P<late> const)?\s*(?P<by>&&|&|\*)?[^&*]*$", re.S)
VIEW = re.compile(r"\b(?:basic_)?string_view\b|\bspan\b|\btext_list\b|\binitializer_list\b|\bconst (?:std::)?string ?&")
TASK = re.compile(r"\btask<")
# Types of memory that is the caller's until the await returns. Each with its reason.
BUFFERS = {
    r"span<(const )?(mutable|const)_buffer>": "a list of buffers that one call of the system reads or fills",
}
# Aggregates that calls take, and that no expression of a caller makes. Each with its reason.
MADE_BY_US: dict = {}

Aggregate = collections.namedtuple("Aggregate", "path line name body")
Function = collections.namedtuple("Function", "path line scopes before name parameters body")


def line_at(code, offset):
    return code.count("\n", 0, offset) + 1


@functools.lru_cache(maxsize=None)
def outline_of(tree, path):
    code = tree.code(path)
    return [(path, line_at(code, found.offset), found) for found in declarations(code)]


def outlined(tree, pattern):
    return [row for path in tree.texts if pattern.match(path) for row in outline_of(tree, path)]


def is_detail(scopes):
    return bool({"detail", "primitive", "model"}.intersection(scopes))


def has_members_of_an_aggregate(kind, name, body):
    last = name.split("::")[-1]
    return (kind == "struct" and body.strip() and not re.search(r"\b(private|protected)\s*:(?!:)|\bvirtual\b", body)
            and not re.search(rf"(?<![\w~.]){last}\s*\(", body))


@functools.lru_cache(maxsize=4)
def public_aggregates(tree):
    found = []
    for path, line, declaration in outlined(tree, PUBLIC):
        kind = type_of(declaration)
        if kind and declaration.public and not is_detail(declaration.scopes) and \
                has_members_of_an_aggregate(*kind, declaration.body):
            found.append(Aggregate(path, line, kind[1].split("::")[-1], declaration.body))
    return found


def functions(tree, pattern):
    for path, line, declaration in outlined(tree, pattern):
        signature = None if type_of(declaration) else function_of(declaration)
        if signature:
            yield declaration, Function(path, line, declaration.scopes, *signature, declaration.body)


@functools.lru_cache(maxsize=4)
def public_functions(tree):
    return [function for declaration, function in functions(tree, PUBLIC)
            if declaration.public and not is_detail(declaration.scopes) and not function.name.startswith("~")]


def names_taken(parameter):
    """The names in the type of a parameter that a temporary of the caller can be."""
    match = PARAMETER.match(parameter.partition("=")[0].strip())
    if not match or match["by"] == "*" or match["by"] == "&" and not (match["const"] or match["late"]):
        return set()
    return set(re.findall(r"\w+", match["type"]))


def is_asserted(tree, aggregate):
    return re.search(rf"static_assert\((?:\w+::)*owns_nothing<(?:\w+::)*{aggregate.name}\b", tree.code(aggregate.path))


def check_aggregates(tree):
    taken = {name for function in public_functions(tree) for parameter in function.parameters
             for name in names_taken(parameter)}
    for aggregate in public_aggregates(tree):
        if aggregate.name in taken and aggregate.name not in MADE_BY_US and not is_asserted(tree, aggregate):
            yield Finding(aggregate.path, aggregate.line,
                          f"{aggregate.name} is an aggregate that a call takes: own nothing and say static_assert(detail::"
                          f"owns_nothing<{aggregate.name}>) beside it, or give it constructors ({PAGE})")


def refers(parameter, aggregates):
    """Whether a coroutine that has this parameter keeps a pointer to what the caller owns."""
    if any(re.search(buffer, parameter) for buffer in BUFFERS):
        return False
    if VIEW.search(parameter):
        return True
    named = [aggregate for aggregate in aggregates if aggregate.name in names_taken(parameter)]
    by_reference = re.search(r"&\s*\w*\s*(=.*)?$", parameter)
    return bool(named) and bool(by_reference or any(VIEW.search(aggregate.body) for aggregate in named))


@functools.lru_cache(maxsize=4)
def definitions(tree):
    """{name of the function: [its definitions]} of all that return a task, private sources included."""
    found = collections.defaultdict(list)
    for pattern in (PUBLIC, PRIVATE):
        for _, function in functions(tree, pattern):
            if function.body is not None and TASK.search(function.before):
                found[function.name.split("::")[-1]].append(function)
    return found


def is_defined_by(declared, defined):
    """Whether the definition is of the declared function: the same class or namespace, the same types."""
    owner = (*defined.scopes, *defined.name.split("::")[:-1])
    plain = [[re.sub(r"\s+|=.*", "", part) for part in function.parameters] for function in (declared, defined)]
    return owner[-1:] == declared.scopes[-1:] and len(plain[0]) == len(plain[1])


def check_tasks(tree):
    for function in public_functions(tree):
        views = [part for part in function.parameters if refers(part, public_aggregates(tree))]
        if not TASK.search(function.before) or not views:
            continue
        bodies = [function] if function.body is not None else \
            [defined for defined in definitions(tree)[function.name] if is_defined_by(function, defined)]
        if any(is_coroutine(defined.body) for defined in bodies):
            yield Finding(function.path, function.line,
                          f"{function.name} is a lazy coroutine that takes `{split(views[0])[0]}`: copy it before the task is "
                          f"returned, in a function that is no coroutine ({PAGE})")


def check(tree):
    return [*check_aggregates(tree), *check_tasks(tree)]
