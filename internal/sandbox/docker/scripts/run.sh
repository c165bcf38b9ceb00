# MARK KEEPER COMMAND…: says who it is, runs the command, and sweeps after it.
# Nothing is set before the command runs: it would be in its environment.
. "${0%/*}/family.sh"
begin() { shift 2 && "$@"; }
echo "$1 $$ $(birth $$)"
begin "$@"
code=$?
sweep "$2" || exit 125
exit "$code"
