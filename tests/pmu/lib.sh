#!/bin/sh
# Helpers for the cases, /lib/case.sh in the guest. A case runs in a directory of its own.

# fail REASON... - ends the case
fail() {
	echo "$*" >reason
	exit 1
}

# skip REASON... - ends the case, neither passed nor failed
skip() {
	echo "$*" >reason
	exit 77
}

# count EVENTS COMMAND... - counts around a command. The CSV is in ./csv and in the output of the
# case, what the command printed is in ./stdout. More options for stat come by $STAT_OPTIONS.
count() {
	count_events=$1
	shift
	rm -f csv stdout
	# shellcheck disable=SC2086 # options are words
	tacho stat -x, ${STAT_OPTIONS-} -e "$count_events" -- "$@" >stdout 2>csv
	count_status=$?
	cat csv
	[ "$count_status" -eq 0 ] || fail "tacho stat -e $count_events: status $count_status"
}

# column EVENT NUMBER - that column of the event's only row; 1 is the value, 4 the run time in ns,
# 5 the percentage of the time that it was counted
column() {
	awk -F, -v event="$1" -v column="$2" '
		$3 == event { found = $column; rows++ }
		END { print rows == 1 ? found : "<" rows + 0 " rows for " event ">" }' csv
}

# known - the number of instructions that `loop` or `overflow` said it executes
known() {
	awk '$1 == "instructions" { print $2 }' stdout
}

# number NAME TEXT - fails unless TEXT is a plain number
number() {
	case $2 in
	'' | *[!0-9.]* | .* | *.*.*) fail "$1: '$2' is not a number" ;;
	esac
}

# near NAME GOT WANT PERCENT - prints both and fails if GOT is further from WANT than that
near() {
	number "$1" "$2"
	number "$1 (expected)" "$3"
	awk -v name="$1" -v got="$2" -v want="$3" -v percent="$4" 'BEGIN {
		off = got - want
		share = want ? 100 * off / want : got ? 100 : 0
		printf "%s: counted %.0f, known %.0f, difference %.0f (%.3f %%, allowed %s %%)\n",
			name, got, want, off, share, percent
		exit !(share <= percent && share >= -percent)
	}' || fail "$1: $2 is not within $4 % of $3"
}

# between NAME GOT LOW HIGH - prints and fails unless LOW <= GOT <= HIGH
between() {
	number "$1" "$2"
	echo "$1: $2 (allowed $3 to $4)"
	awk -v got="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(got >= low && got <= high) }' ||
		fail "$1: $2 is not between $3 and $4"
}

# equal NAME GOT WANT - prints and fails unless they are the same text
equal() {
	echo "$1: $2 (expected $3)"
	[ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
}
