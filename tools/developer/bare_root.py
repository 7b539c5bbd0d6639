"""A bare Debian in a folder, and commands in it: what `./dev fresh` runs on.

mmdebstrap makes the root from the machine's own Debian sources. The root also receives the machine's settings for package
sources: certificates, /etc/hosts, resolv.conf, files of apt, pip, cargo and go, and variables of the environment.
Commands run in a mount namespace and a process namespace of their own (fresh.sh). So nothing is ever mounted outside of it, and
the root can be removed at any time.
"""
import os
import pathlib
import re
import shutil
import subprocess

from .shell import ROOT, Stop, must_quietly

SCRIPT = pathlib.Path(__file__).resolve().parent / "fresh.sh"
CLONE = "/hocket"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INCLUDED = "git,python3"   # with these, a clone and ./dev can begin
# All processes of the namespaces end with ./dev itself, also if it is killed.
NAMESPACES = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"]
FILES = ("/etc/hosts", "/etc/resolv.conf", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
HOME_FILES = (".config/pip/pip.conf", ".pip/pip.conf", ".config/go/env", ".cargo/config.toml", ".cargo/config")
FOLDERS = ("/usr/local/share/ca-certificates",)
VARIABLES = re.compile(
    r"(?i:https?|ftp|all|no)_(?i:proxy)|"
    r"PIP_(?:CERT|PROXY|INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT|RETRIES)|"
    r"CARGO_(?:HTTP|NET|SOURCE|REGISTRY|REGISTRIES)\w*|GO(?:PROXY|NOPROXY|SUMDB|NOSUMDB|PRIVATE|INSECURE|VCS|FLAGS)|"
    r"SSL_CERT_(?:FILE|DIR)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO")
SECRET = re.compile(r"TOKEN|PASSWORD|SECRET|CREDENTIAL")
APT_SETTING = re.compile(r"Acquire::(?:https?|ftp|Retries|Check-|Force|Allow)\S* .*;")
NO_DAEMONS = "#!/bin/sh\n# Packages start no servers in this root.\nexit 101\n"


def is_debian(text, codename):
    """Whether a source is Debian's own, for this release."""
    signed = re.search(r"signed-by[:=]\s*([^\s\]]+)", text, re.I)
    suite = re.search(rf"\b{re.escape(codename)}(?:-updates|-security)?\b", text)
    return bool(suite) and (not signed or "debian-archive-keyring" in signed.group(1))


def debian_sources(name, text, codename):
    """The parts of a file of apt sources that are Debian's own: lines of a .list, paragraphs of a .sources file."""
    text = re.sub(r"^\s*#.*\n?", "", text, flags=re.M)
    parts = re.split(r"\n\s*\n", text) if name.endswith(".sources") else text.splitlines()
    separator = "\n\n" if name.endswith(".sources") else "\n"
    return "".join(part.strip("\n") + separator for part in parts if is_debian(part, codename))


def settings_for_packages(environment):
    """The variables that lead to package sources. Secrets stay outside."""
    return {name: value for name, value in environment.items() if VARIABLES.fullmatch(name) and not SECRET.search(name)}


def hosts_in(texts):
    """Names and addresses of hosts in settings: of URLs, /etc/hosts and resolv.conf."""
    text = "\n".join(texts)
    found = re.findall(r"\w+://(?:[^/@\s]*@)?([\w.-]+)", text)
    for line in re.findall(r"^\s*(?:nameserver|search|[\da-f.:]{3,})\s+(.*)$", text, re.M):
        found += line.split()
    return {name for name in found if not re.fullmatch(r"localhost\S*|ip6-\S*|127\.[\d.]+|::1", name)}


class Redactor:
    """Replaces the names of hosts in text."""

    def __init__(self, hosts):
        words = "|".join(map(re.escape, sorted(hosts, key=len, reverse=True)))
        self.names = re.compile(r"(?<=://)[\w.-]+" + (f"|(?<![\\w.-])(?:{words})(?![\\w-])" if words else ""))

    def __call__(self, text):
        return self.names.sub("HOST", text)


def codename():
    text = pathlib.Path("/etc/os-release").read_text()
    found = re.search(r"^VERSION_CODENAME=\"?(\w+)", text, re.M)
    return found.group(1) if found else "stable"


def requirements_unmet():
    """Why this machine can make no bare root; None: it can."""
    if os.geteuid() != 0:
        return "a bare Debian root needs root: `sudo ./dev fresh`, or a container in which you are root"
    if not shutil.which("mmdebstrap"):
        return "mmdebstrap is not installed: `apt-get install mmdebstrap` (a machine of Debian or Ubuntu)"
    if subprocess.run([*NAMESPACES, "mount", "-t", "proc", "proc", "/proc"], capture_output=True).returncode != 0:
        return ("this process may not mount in a namespace of its own (`unshare --mount --pid` and `mount`): in a container add "
                "the capability CAP_SYS_ADMIN, as `docker run --privileged` does, or use a virtual machine")
    return None


class BareRoot:
    def __init__(self, folder):
        self.folder = folder
        self.root = folder / "root"
        self.ccache = folder / "ccache"
        self.ready = folder / "root.ready"   # written when the root is whole
        self.settings = settings_for_packages(os.environ)

    def sources(self):
        """Writes Debian's own of the machine's sources to files for mmdebstrap."""
        files = [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]
        written = []
        for file in files:
            if file.suffix in (".list", ".sources") and file.is_file():
                if text := debian_sources(file.name, file.read_text(), codename()):
                    written.append(self.folder / f"apt-{file.name}")
                    written[-1].write_text(text)
        if not written:
            raise Stop(f"no source of /etc/apt is Debian's own for {codename()}: a bare root cannot be made from them")
        return written

    def apt_settings(self):
        dump = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True).stdout
        file = self.folder / "apt.conf"
        file.write_text("".join(f"{line}\n" for line in dump.splitlines() if APT_SETTING.fullmatch(line)))
        return file

    def remove(self):
        """A mount below the root would mean another's files: refuses."""
        mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        if busy := [line.split()[4] for line in mounts if line.split()[4].startswith(f"{self.root}/")]:
            raise Stop(f"{busy[0]} is mounted: `umount` it first")
        self.ready.unlink(missing_ok=True)
        if self.root.exists():
            shutil.rmtree(self.root)

    def create(self):
        self.remove()
        self.folder.mkdir(parents=True, exist_ok=True)
        must_quietly("mmdebstrap", "--mode=root", "--variant=minbase", f"--include={INCLUDED}", f"--aptopt={self.apt_settings()}",
                     codename(), str(self.root), *map(str, self.sources()), log="fresh/root.log")
        policy = self.root / "usr/sbin/policy-rc.d"
        policy.write_text(NO_DAEMONS)
        policy.chmod(0o755)
        (self.root / "etc/dpkg/dpkg.cfg.d/fresh").write_text("force-unsafe-io\n")   # the root need not survive a crash
        self.ready.touch()

    def copies(self):
        """(file of the machine, its place in the root)"""
        home = pathlib.Path.home()
        pairs = [(pathlib.Path(file), self.root / file[1:]) for file in FILES]
        pairs += [(home / file, self.root / "root" / file) for file in HOME_FILES]
        pairs += [(file, self.root / str(file)[1:]) for folder in FOLDERS for file in pathlib.Path(folder).glob("*")]
        named = {pathlib.Path(value) for value in self.settings.values() if value.startswith("/")}
        pairs += [(file, self.root / str(file)[1:]) for file in named]
        return [(source, target) for source, target in pairs if source.is_file()]

    def copy_settings(self):
        for source, target in self.copies():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(source, target)

    def redactor(self):
        texts = [file.read_text(errors="replace") for file, _ in self.copies() if file.suffix not in (".crt", ".pem")]
        texts += [file.read_text() for file in self.folder.glob("apt*") if file.is_file()]
        return Redactor(hosts_in([*texts, *self.settings.values()]) | {os.uname().nodename})

    def tree(self):
        return self.root / CLONE[1:]

    def clone(self):
        """The checkout's HEAD. In a root that was used before, the build folder stays."""
        target = self.tree()
        log = "fresh/clone.log"
        if not target.exists():
            must_quietly("git", "clone", "--no-hardlinks", str(ROOT), str(target), log=log)
            return
        git = ["git", "-C", str(target)]
        must_quietly(*git, "fetch", str(ROOT), "HEAD", log=log)
        must_quietly(*git, "reset", "--hard", "FETCH_HEAD", log=log)
        must_quietly(*git, "clean", "-fd", log=log)

    def command(self, *words):
        self.ccache.mkdir(parents=True, exist_ok=True)
        return [*NAMESPACES, "sh", str(SCRIPT), str(self.root), str(self.ccache), CLONE, *words]

    def environment(self):
        return {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", **self.settings}
