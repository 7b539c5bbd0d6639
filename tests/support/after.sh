# after.sh <first> <program> [launcher...]: runs <first>, and <program> if that returned 0.
first=$1 program=$2
shift 2
"$@" "$first" || exit
exec "$@" "$program"
