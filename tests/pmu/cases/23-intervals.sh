#!/bin/sh
# Counts of the intervals (-I) are differences: they add up to the whole, to the last instruction
# before the end. How many intervals there are is not judged, the emulator stretches them.
# shellcheck source=../lib.sh
. /lib/case.sh

STAT_OPTIONS="-I 50"
count instructions:u loop 200000000
between "intervals" "$(grep -c ',instructions:u,' csv)" 2 9
near "sum of the intervals" "$(awk -F, '$4 == "instructions:u" { sum += $2 }
	END { printf "%.0f", sum }' csv)" "$(known)" 1
