"""C++ objects by type and address.

gdb's own values would be sufficient, but they cause complaints. When gdb follows a pointer to a class with virtual
functions, it looks for the object's dynamic type, and prints a complaint if it finds none, for example for templates
instantiated with lambdas. gdb does so for every pointer that it follows.
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
            raise gdb.GdbError(f"{self.type} has no {member}: do tools/gdb and the program have the same version of hocket?")
        return Object(found[0], self.address + found[1])

    def word(self):
        """The first 8 bytes of the object as an unsigned integer: a pointer, a handle's address, an atomic's value.

        Callers mask smaller members. Does not depend on member names of the standard library.
        """
        return word(self.address)

    def target(self):
        """The object that a pointer or reference leads to; None for null."""
        at = self.word()
        return Object(self.type.target(), at) if at else None

    def value(self):
        """The gdb.Value of a scalar object."""
        return gdb.Value(self.address).cast(self.type.pointer()).dereference()

    def text(self):
        """The string that a const char* points to; empty for null."""
        at = self.word()
        return gdb.Value(at).cast(self.type).string(errors="replace") if at else ""


def place_of(type_, member):
    """(type, offset in bytes) of a member of the class or of a base class.

    None if there is none. Unions and anonymous structs are not searched.
    """
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
