#!/bin/sh
# The list tells which events can be opened here, and agrees with what can be counted.
# shellcheck source=../lib.sh
. /lib/case.sh

tacho list --group hw --json >list.json || fail "tacho list: status $?"

# availability EVENT - true or false, as in its object
availability() {
	tr '{' '\n' <list.json | grep "\"name\": *\"$1\"" | sed 's/.*"available": *\([a-z]*\).*/\1/'
}

for event in cycles instructions stalled-cycles-frontend stalled-cycles-backend; do
	equal "$event available" "$(availability $event)" true
done
for event in cache-misses branch-misses ref-cycles; do
	equal "$event available" "$(availability $event)" false
done
