#!/bin/sh
# `tacho record` by overflow of the cycle counter: as many samples as count / period says, all of
# them in the file, each with its period; a frequency gives about so many a second.
# shellcheck source=../lib.sh
. /lib/case.sh

# recorded NAME - a number of `tacho info --json`
recorded() {
	tacho info --json rec.data | tr ',{' '\n' | awk -F: -v name="\"$1\"" '$1 == name { print $2; exit }'
}

for period in 20000 100000 1000000; do
	STAT_OPTIONS='' count cycles:u loop 50000000
	cycles=$(column cycles:u 1)
	tacho record -e cycles:u -c $period -o rec.data -- loop 50000000 >stdout 2>said || {
		cat said
		fail "record -c $period: status $?"
	}
	samples=$(recorded samples)
	near "samples each $period cycles, of $cycles" "$samples" $((cycles / period)) 1
	equal "lost" "$(recorded lost_records) $(recorded lost_samples)" "0 0"
	lines=$(tacho script -i rec.data -F event,period,ip -G | grep -c " *$period cycles:u: ")
	equal "lines of script with period $period" "$lines" "$samples"
done

# The default event is cycles, where there is a PMU.
tacho record -g -o rec.data -- loop 50000000 >stdout 2>said || fail "record -g: status $?"
tacho script -i rec.data -F event -G | sort | uniq -c | sort -rn | head -n 1 >events
cat events
grep -q 'cycles' events || fail "the default event is not cycles: $(cat events)"
