# What the three ways in share. The test gives `hooks` in PATH, free ports as PORT_A and PORT_B, and an empty folder as the current one.
set -eu
fail() { echo "FAILED: $*" >&2; exit 1; }
# Waits up to 20 s until a command succeeds.
within() { i=0; until "$@" > within.log 2>&1; do i=$((i + 1)); [ $i -lt 100 ] || { cat within.log >&2; fail "$*"; }; sleep 0.2; done; }
# Runs a command that must end with the exit code $1.
exits() { wanted=$1; shift; code=0; "$@" > last.out 2> last.err || code=$?; [ $code = "$wanted" ] || { cat last.out last.err >&2; fail "exit code $code, not $wanted: $*"; }; }
# Whether the last output has this text.
shows() { cat last.out last.err | grep -qF -- "$1" || { cat last.out last.err >&2; fail "no \"$1\" in the output"; }; }
# Starts a command in the background, with its output in the file $1; it is stopped at the end.
STARTED=
start() { into=$1; shift; "$@" > "$into" 2>&1 & STARTED="$STARTED $!"; }
stop_all() { for pid in $STARTED; do kill "$pid" 2> /dev/null || true; done; }
trap stop_all EXIT
