#!/bin/sh
# The plain hardware events count user and kernel mode. The clock of the emulated CPU makes
# every instruction two cycles, so each count has a known size, too.
# shellcheck source=../lib.sh
. /lib/case.sh

count cycles,instructions loop 20000000
instructions=$(column instructions 1)
between "instructions" "$instructions" "$(known)" $(($(known) + 2000000))
near "cycles = 2 x instructions" "$(column cycles 1)" $((2 * instructions)) 1
between "run time of cycles in ns" "$(column cycles 4)" 40000000 60000000
between "share of the time that cycles ran" "$(column cycles 5)" 100 100
