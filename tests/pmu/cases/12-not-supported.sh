#!/bin/sh
# An event that this PMU lacks says so, and the one beside it is still counted.
# shellcheck source=../lib.sh
. /lib/case.sh

count cache-misses:u,instructions:u loop 20000000
equal "cache-misses:u" "$(column cache-misses:u 1)" "<not supported>"
near "instructions:u" "$(column instructions:u 1)" "$(known)" 1
