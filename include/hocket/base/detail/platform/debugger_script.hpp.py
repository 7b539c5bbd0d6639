"""gdb loads this with a program that uses hocket (debugger_script.hpp). It loads hocket's commands."""
import os
import sys


def scripts():
    """Where the commands can be: in the source tree, or in an installed package, of which this file is a part."""
    folder = os.path.dirname(os.path.realpath(__file__))
    while folder != os.path.dirname(folder):
        yield os.path.join(folder, "tools", "gdb", "hocket.py")
        yield os.path.join(folder, "share", "hocket", "gdb", "hocket.py")
        folder = os.path.dirname(folder)


def load():
    script = next(filter(os.path.isfile, scripts()), None)
    if script:
        with open(script, encoding="utf-8") as source:
            exec(compile(source.read(), script, "exec"), {"__name__": "hocket", "__file__": script})


if "hocket_gdb" not in sys.modules:  # else another program or library of this gdb has loaded them
    load()
