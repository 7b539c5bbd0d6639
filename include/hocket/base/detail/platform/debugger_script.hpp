// Names the script that gdb loads with a program that uses hocket: the commands hocket-bt, hocket-list and others.
//
// gdb reads the names of scripts from the section .debug_gdb_scripts of a program or shared library (gdb manual, "The
// .debug_gdb_scripts section"). The name is that of this header with ".py" behind it, because a header knows its own
// name and no other path. That file lies beside this one, in the source tree and in an installed package alike, and
// finds the commands from there. So the entry is right wherever a package was moved to before the program was compiled.
//
//   - Each unit of a program has the entry. The linker merges equal strings (flags M and S). The section is not loaded,
//     and strip(1) removes it.
//   - Under --gc-sections, linkers keep the debug sections of each object file of which they keep anything, and the
//     reference to the layout symbol is kept (layout.hpp).
//   - The library's own units have no entry (HOCKET_LIBRARY_UNIT): it would name the tree in which the library was
//     built. An installed shared library has libhocket_base.so.VERSION-gdb.py beside it instead.
//   - A portable build has no assembly, and no entry.
//   - If the include path is relative, so is the name. gdb then looks for it in its own directory and its source path.
#pragma once

#if !HOCKET_PORTABLE && !defined(HOCKET_LIBRARY_UNIT) && __has_include("debugger_script.hpp.py")
// The byte 1 stands for the name of a script in Python.
asm(".pushsection .debug_gdb_scripts, \"MS\", %progbits, 1\n.byte 1\n.asciz \"" __FILE__ ".py\"\n.popsection");
#endif
