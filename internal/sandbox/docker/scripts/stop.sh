# MARK PID BIRTH PARENT: ends what the run.sh with that pid runs, politely at
# first, and returns when that has ended too. Children of PARENT are spared until
# nothing else helps.
gone() { case $(birth "$1") in "$2") return 1 ;; esac; }

for signal in INT TERM; do
	look "$1" - "$3"
	case $found in ?*) kill -"$signal" $found 2>/dev/null ;; esac
	round=0
	while [ "$round" -lt 20 ]; do
		gone "$1" "$2" && exit 0
		nap
		round=$((round + 1))
	done
done
round=0
while [ "$round" -lt 100 ]; do
	look "$1" - -
	kill -9 $found 2>/dev/null
	kill -CONT "$1" 2>/dev/null
	gone "$1" "$2" && exit 0
	nap
	round=$((round + 1))
done
exit 1
