#!/bin/sh
# The emulated PMU has counters for stalled cycles, and a CPU that never stalls. A count of
# zero is a result: it must look neither unsupported nor uncounted.
# shellcheck source=../lib.sh
. /lib/case.sh

count stalled-cycles-frontend,stalled-cycles-backend loop 20000000
for event in stalled-cycles-frontend stalled-cycles-backend; do
	equal "$event" "$(column $event 1)" 0
	between "run time of $event in ns" "$(column $event 4)" 40000000 60000000
	between "share of the time that $event ran" "$(column $event 5)" 100 100
done
