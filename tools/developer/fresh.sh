#!/bin/sh
# fresh.sh <root> <ccache> <folder> <command>...: runs the command in a folder of the root, as on a machine of its own.
# Call it within `unshare --mount --pid --fork`: the mounts are seen in that namespace alone, and end with it.
set -eu
root=$1 ccache=$2 folder=$3
shift 3

mount --make-rprivate /
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for number in 0:stdin 1:stdout 2:stderr; do
  ln -s "/proc/self/fd/${number%:*}" "$root/dev/${number#*:}"
done
mkdir -p "$root/root/.cache/ccache"
mount --bind "$ccache" "$root/root/.cache/ccache"

# This shell is the first process of the namespace: it waits for orphans, too, as init does.
exec chroot "$root" sh -c 'cd "$1" && shift && "$@"; exit $?' sh "$folder" "$@"
