#!/bin/sh
# Counting per CPU: the CPU that the loop is pinned to has the loop's instructions, the other
# has not, and with the loop on the other CPU it is the other way round.
#
# Only user mode can be told apart by CPU here: the emulator counts the instructions of the
# whole machine on every CPU, as long as that CPU is in the mode that the event asks for.
# shellcheck source=../lib.sh
. /lib/case.sh

# cell CPU EVENT - the value in that row
cell() {
	awk -F, -v cpu="$1" -v event="$2" '
		$1 == cpu && $4 == event { found = $2; rows++ }
		END { print rows == 1 ? found : "<" rows + 0 " rows for " cpu " " event ">" }' csv
}

STAT_OPTIONS="-a -A"
for busy in 0 1; do
	idle=$((1 - busy))
	count cycles:u,instructions:u taskset $((1 << busy)) loop 50000000
	equal "rows" "$(grep -c '^CPU[01],' csv)" 4
	near "CPU$busy instructions:u" "$(cell CPU$busy instructions:u)" "$(known)" 1
	near "CPU$busy cycles:u" "$(cell CPU$busy cycles:u)" $((2 * $(known))) 1
	between "CPU$idle instructions:u" "$(cell CPU$idle instructions:u)" 0 1000000
	between "CPU$idle cycles:u" "$(cell CPU$idle cycles:u)" 0 2000000
done
