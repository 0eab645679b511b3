#!/bin/sh
# Members of a group are on the PMU at the same time or not at all: equal run times, and a ratio
# of the two that is exact, which is also shown as a figure of its own.
# shellcheck source=../lib.sh
. /lib/case.sh

count '{cycles:u,instructions:u}' loop 50000000
near "instructions:u" "$(column instructions:u 1)" "$(known)" 1
near "cycles:u = 2 x instructions:u" "$(column cycles:u 1)" $((2 * $(column instructions:u 1))) 0.1
near "instructions per cycle x 100" "$(awk "BEGIN { print 100 * $(column instructions:u 6) }")" 50 1
between "run time of cycles:u in ns" "$(column cycles:u 4)" 100000000 120000000
equal "run time of instructions:u in ns" "$(column instructions:u 4)" "$(column cycles:u 4)"
