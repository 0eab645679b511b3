#!/bin/sh
# Twelve events on six counters take turns: each is counted about half of the time, says so, and
# its value is scaled to the whole. The unscaled value would be off by half.
# shellcheck source=../lib.sh
. /lib/case.sh

count "$(yes r08:u | head -n 12 | paste -sd ,)" loop 200000000
turn=0
shares=0
time_ns=0
while IFS=, read -r value _ event run_ns percent _; do
	[ "$event" = r08:u ] || continue
	turn=$((turn + 1))
	between "event $turn: share of the time that it ran" "$percent" 35 65
	near "event $turn: instructions" "$value" "$(known)" 5
	shares=$(awk "BEGIN { print $shares + $percent }")
	time_ns=$((time_ns + run_ns))
done <csv
equal "rows" "$turn" 12
# Six counters that are never idle, for 400 ms and a little more.
between "sum of the shares" "$shares" 570 600.1
between "sum of the run times in ns" "$time_ns" 2300000000 2600000000
