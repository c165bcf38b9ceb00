# KEEPER PID BIRTH PARENT: ends what the run.sh with that pid runs, politely
# at first, waits until that has ended too, and sweeps after it. Children of
# PARENT are spared until nothing else helps.
. "${0%/*}/family.sh"
gone() { case $(birth "$1") in "$2") return 1 ;; esac; }

for signal in INT TERM; do
	look "$2" - "$4"
	case $found in ?*) kill -"$signal" $found 2>/dev/null ;; esac
	round=0
	while [ "$round" -lt 20 ]; do
		gone "$2" "$3" && sweep "$1" && exit 0
		nap
		round=$((round + 1))
	done
done
round=0
while [ "$round" -lt 100 ]; do
	look "$2" - -
	kill -9 $found 2>/dev/null
	kill -CONT "$2" 2>/dev/null
	gone "$2" "$3" && sweep "$1" && exit 0
	nap
	round=$((round + 1))
done
exit 1
