#!/bin/sh
# Twelve events on six counters take turns: each is counted about half of the time, says so, and
# its value is scaled to the whole. The unscaled value would be off by half.
# shellcheck source=../lib.sh
. /lib/case.sh

count "$(yes r08:u | head -n 12 | paste -sd ,)" loop 200000000
turn=0
shares=0
while IFS=, read -r value _ event run_ns percent _; do
	[ "$event" = r08:u ] || continue
	turn=$((turn + 1))
	between "event $turn: share of the time that it ran" "$percent" 35 65
	near "event $turn: instructions" "$value" "$(known)" 5
	between "event $turn: run time in ns" "$run_ns" 140000000 270000000
	shares=$(awk "BEGIN { print $shares + $percent }")
done <csv
equal "rows read" "$turn" 12
# Six counters that are never idle.
between "sum of the shares" "$shares" 570 600.1
