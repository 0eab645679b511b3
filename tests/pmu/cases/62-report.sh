#!/bin/sh
# From samples of a real counter on arm64 to names and stacks: a program of known shape, by frame
# pointers and by copies of the stack.
# shellcheck source=../lib.sh
. /lib/case.sh

# Copies of the stack are 8 KiB a sample, which the emulated machine does not get rid of so fast.
for way in fp:100000 dwarf:500000; do
	calls=${way%:*}
	tacho record -e cycles:u -c "${way#*:}" --call-graph "$calls" -o rec.data -- shape 60000000 >stdout 2>said || {
		cat said
		fail "record --call-graph $calls: status $?"
	}
	lost=$(tacho info --json rec.data | tr ',{' '\n' | awk -F: '$1 == "\"lost_records\"" { print $2; exit }')
	equal "$calls: lost" "$lost" 0
	tacho convert -q -i rec.data --to folded -o folded || fail "convert: status $?"
	head -n 12 folded
	for half in seventy:70 thirty:30; do
		share=$(awk -v name=";${half%:*};" '
			{ all += $NF }
			index($0, name) { part += $NF }
			END { printf "%.0f", all ? 1000 * part / all : 0 }' folded)
		near "$calls: ${half%:*} in tenths of a percent" "$share" "${half#*:}0" 3
	done
	whole=$(awk '/;main;work;work;work;work;(seventy|thirty);turns / { n += $NF } END { print n + 0 }' folded)
	samples=$(awk '{ n += $NF } END { print n + 0 }' folded)
	near "$calls: stacks from main to the leaf" "$whole" "$samples" 2
	tacho report -q -i rec.data --stdio -g none --no-children -s sym >listing || fail "report: status $?"
	grep -q 'turns' listing || fail "report does not name the hottest function: $(cat listing)"
done
