"""Programs that mix two layouts of hocket: none links, and no plug-in loads. Each failure names the layouts.

The controls beside them, a unit and plug-ins of the matching layout, link and load.
"""
import pathlib
import re

SANITIZER = "(plain|asan|tsan)"
BACKENDS = ("native", "ucontext", "thread")
# Options by which linkers remove what nothing uses.
LINKS = {"plainly": [], "gc_sections": ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
         "lto": ["-O2", "-flto"]}


class Layouts:
    def __init__(self, package, run, require):
        self.package, self.run, self.require = package, run, require
        given = package.settings
        self.conforming, self.portable = (int(given[name] in ("ON", "1")) for name in ("conforming", "portable"))
        self.checks, self.backend = int(given["checks"]), int(given["backend_number"])
        self.lock_owners = int(package.settings["lock_owners"] in ("ON", "1"))
        libraries = package.prefix / given["libdir"]
        self.headers = f"-I{package.prefix / given['includedir']}"
        self.library = [f"-L{libraries}", "-lhocket_base", f"-Wl,-rpath,{libraries}"]
        # The tool chain of clang needs lld for its link-time optimisation.
        self.links = {name: options for name, options in LINKS.items() if name != "lto" or "clang" not in given["compiler"]}

    def check(self):
        for name, options in self.links.items():
            self.check_units(name, options)
        if "lto" in self.links:
            self.check_portable_library()
        else:
            print("left out: link-time optimisation by clang, which needs lld")
        self.check_two_libraries()
        self.check_plugins()

    def definitions(self, **other):
        own = {"checks": self.checks, "conforming": self.conforming, "backend": self.backend, "portable": self.portable,
               "lock_owners": self.lock_owners}
        return ["-std=c++20", self.headers, *(f"-DHOCKET_{name.upper()}={value}" for name, value in {**own, **other}.items())]

    def others(self):
        """Options that differ from the build's, with the layout symbol that they make."""
        checks = (self.checks + 1) % 3
        yield {"checks": checks}, rf"checks{checks}_conforming{self.conforming}_"
        yield {"conforming": 1 - self.conforming}, rf"checks{self.checks}_conforming{1 - self.conforming}_"
        owners = 1 - self.lock_owners
        yield {"lock_owners": owners}, rf"checks{self.checks}_conforming{self.conforming}_{'owners_' * owners}{SANITIZER}_"
        if not self.portable:
            backend = (self.backend + 1) % 3
            yield {"backend": backend}, rf"{SANITIZER}_{BACKENDS[backend]}\b"
        if not self.backend:
            yield {"portable": 1 - self.portable}, rf"{SANITIZER}_{('portable', 'native')[self.portable]}\b"

    def check_units(self, name, options):
        """A unit that includes one header and uses nothing of it; then one that is linked with a second unit."""
        self.links_alone("mixture.cpp", options, f"unit_{name}")
        second = self.object("plugin.cpp", f"second_{name}.o", *options)
        code, output = self.package.compile("mixture.cpp", [*self.definitions(), *options, second, *self.library], f"two_{name}")
        self.require(code == 0, output)
        for other, symbol in self.others():
            self.is_undefined(symbol, [*self.definitions(**other), *options, *self.library], f"{other}, {name}")
        checks = (self.checks + 1) % 3
        differs = self.object("plugin.cpp", f"differs_{name}.o", *options, checks=checks)
        self.is_undefined(f"checks{checks}_", [*self.definitions(), *options, differs, *self.library], f"a second unit, {name}")

    def links_alone(self, program, options, target):
        code, output = self.package.compile(program, [*self.definitions(), *options, *self.library], target)
        self.require(code == 0, output)

    def is_undefined(self, symbol, options, mixture):
        code, output = self.package.compile("mixture.cpp", options, "mixed")
        self.require(code != 0, f"a mixture links: {mixture}")
        self.require(re.search(rf"undefined.*hocket_layout_v\w*_{symbol}", output),
                     f"a mixture failed for another reason: {mixture}\n{output}")

    def object(self, source, target, *options, **other):
        code, output = self.package.compile(source, [*self.definitions(**other), "-c", *options], target)
        self.require(code == 0, output)
        return str(self.package.folder / target)

    def check_portable_library(self):
        """With link-time optimisation of the library itself, which may drop what the initialisers of units do."""
        base = pathlib.Path(self.package.settings["source"]) / "src/base"
        options = ["-O2", "-flto", "-fPIC"]
        own = {"checks": 1, "conforming": 1, "backend": 0, "portable": 1}
        library = [self.object(base / f"{name}.cpp", f"portable_{name.replace('/', '_')}.o", *options, **own)
                   for name in ("fatal", "platform/layout_check")]
        self.package.compile("mixture.cpp", [*self.definitions(**own), *options, *library], "portable")
        self.is_undefined("checks2_conforming1_", [*self.definitions(**{**own, "checks": 2}), *options, *library], "portable, lto")

    def check_two_libraries(self):
        """A program that links the layout symbols of two libraries."""
        layout = pathlib.Path(self.package.settings["source"]) / "src/base/platform/layout_check.cpp"
        second = self.object(layout, "layout.o", checks=(self.checks + 1) % 3)
        code, output = self.package.compile("mixture.cpp", [*self.definitions(), second, *self.library], "twice")
        self.require(code != 0 and "hocket_is_linked_once" in output, f"two layouts link:\n{output}")

    def check_plugins(self):
        exported = ["-rdynamic", "-Wl,--whole-archive", *self.library, "-Wl,--no-whole-archive"]
        code, output = self.package.compile("host.cpp", [*self.definitions(), *exported], "host")
        self.require(code == 0, output)
        checks = (self.checks + 1) % 3
        self.loads(self.plugin("matching"))
        self.is_refused(self.plugin("other", checks=checks), rf"undefined symbol: hocket_layout_v\w*_checks{checks}_")
        # The next two contain a hocket of their own.
        own = [f"{self.package.settings['source']}/src/base/{name}.cpp" for name in ("fatal", "platform/layout_check")]
        self.loads(self.plugin("matching_own", *own))
        self.is_refused(self.plugin("other_own", *own, checks=checks),
                        rf"a second hocket .*_checks{checks}_\w+ beside hocket_layout_v\w*_checks{self.checks}_")
        self.loads(self.plugin("hidden_own", "-fvisibility=hidden", *own, checks=checks))

    def plugin(self, name, *options, **other):
        code, output = self.package.compile("plugin.cpp", [*self.definitions(**other), "-shared", "-fPIC", *options], f"{name}.so")
        self.require(code == 0, output)
        return self.package.folder / f"{name}.so"

    def load(self, plugin):
        return self.run(self.package.folder / "host", plugin)

    def loads(self, plugin):
        code, output = self.load(plugin)
        self.require(code == 0, f"{plugin.name} does not load:\n{output}")

    def is_refused(self, plugin, message):
        code, output = self.load(plugin)
        self.require(code != 0, f"{plugin.name} loads")
        self.require(re.search(message, output), f"{plugin.name} is refused for another reason:\n{output}")
