"""C++ objects by type and address.

gdb's own values do not suffice: if a pointer to a class with virtual functions is followed, gdb searches the dynamic
class, and prints a complaint if it does not find it: templates of lambdas.
"""
import gdb

from .memory import word


class Object:
    def __init__(self, type_, address):
        self.type = type_.strip_typedefs()
        self.address = address

    def __getitem__(self, member):
        found = place_of(self.type, member)
        if found is None:
            raise gdb.GdbError(f"{self.type} has no {member}: is tools/gdb of this version of hocket?")
        return Object(found[0], self.address + found[1])

    def word(self):
        """Its first word: a pointer, a handle's address, an atomic's value, whatever the standard library calls it."""
        return word(self.address)

    def target(self):
        """What a pointer or reference leads to; None for null."""
        at = self.word()
        return Object(self.type.target(), at) if at else None

    def value(self):
        """Of a scalar."""
        return gdb.Value(self.address).cast(self.type.pointer()).dereference()

    def text(self):
        """What a const char* points to."""
        at = self.word()
        return gdb.Value(at).cast(self.type).string(errors="replace") if at else ""


def place_of(type_, member):
    """(type, offset) of a member, of a base's, too; None if there is none."""
    key = (str(type_), member)
    if key not in known:
        known[key] = search(type_, member) if type_.code == gdb.TYPE_CODE_STRUCT else None
    return known[key]


def search(type_, member):
    for field in type_.fields():
        if field.name == member and hasattr(field, "bitpos"):
            return field.type, field.bitpos // 8
    for field in type_.fields():
        found = search(field.type.strip_typedefs(), member) if field.is_base_class else None
        if found:
            return found[0], found[1] + field.bitpos // 8
    return None


known = {}
gdb.events.clear_objfiles.connect(lambda _: known.clear())
