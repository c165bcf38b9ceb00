# Who descends from whom, by sh and /proc alone. Nothing here starts a process,
# so that it works where no other may be started.

# birth PID prints when a process was born.
birth() {
	read -r stat <"/proc/$1/stat" && set -- ${stat##*) } && echo "${20}"
} 2>/dev/null

# look ROOT SKIP PARENT sets found to the descendants of ROOT, without SKIP and
# its descendants and without children of PARENT. Somebody whose parent ended
# while being looked for is unsure. Who has ended counts until it was waited for:
# other threads of it may still hold files.
look() {
	for n in $all; do unset "p$n"; done
	all='' found='' unsure=''
	for d in /proc/[0-9]*; do
		n=${d#/proc/} p=''
		{
			while read -r key value; do
				case $key in PPid:) p=$value && break ;; esac
			done <"$d/status"
		} 2>/dev/null
		case $p in '') continue ;; esac
		eval "p$n=$p"
		all="$all $n"
	done
	for n in $all; do
		case $n in "$1" | "$2") continue ;; esac
		eval "q=\$p$n"
		case $q in "$3") continue ;; esac
		while :; do
			case $q in
			"$1") found="$found $n" && break ;;
			"$2" | 0 | 1) break ;;
			'') unsure=yes && break ;;
			esac
			eval "q=\$p$q"
		done
	done
}

# nap is a moment. Not every sleep knows fractions.
nap() { sleep 0.02 2>/dev/null || sleep 1; }

# sweep KEEPER kills whoever is left without a command: the descendants of
# process 1 but KEEPER. It fails if somebody will not go.
sweep() {
	round=0
	while [ "$round" -lt 200 ]; do
		look 1 "$1" -
		case $found$unsure in '') return 0 ;; esac
		case $found in ?*) kill -9 $found ;; esac
		[ "$round" -lt 1 ] || nap
		round=$((round + 1))
	done
	return 1
} 2>/dev/null
