#!/bin/sh
# Sampling by overflow of the cycle counter is exact on this PMU: one sample each PERIOD
# cycles, none lost, at three rates. The program asks the kernel itself: if this fails, no
# sampling of tacho's can be judged here.
# shellcheck source=../lib.sh
. /lib/case.sh

# said NAME - what the program printed under that name
said() {
	awk -v name="$1" '$1 == name { print $2 }' stdout
}

for period in 20000 100000 1000000; do
	overflow $period 50000000 >stdout || fail "overflow: status $?"
	cycles=$(said cycles)
	near "cycles:u = 2 x instructions" "$cycles" $((2 * $(known))) 1
	equal "samples each $period cycles" "$(said samples)" $((cycles / period))
	equal "lost, throttled, other" "$(said lost) $(said throttled) $(said other)" "0 0 0"
done
