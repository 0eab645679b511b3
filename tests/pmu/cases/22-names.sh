#!/bin/sh
# One event under all of its names: generic, raw, by the name and by the terms that the kernel
# tells in sysfs. Four counters that saw the same loop agree.
# shellcheck source=../lib.sh
. /lib/case.sh

pmu=$(basename /sys/bus/event_source/devices/armv8*)
[ -e "/sys/bus/event_source/devices/$pmu" ] || fail "no armv8 PMU in sysfs"

count "instructions:u,r08:u,$pmu/inst_retired/u,$pmu/event=0x8/u" loop 20000000
generic=$(column instructions:u 1)
near "instructions:u" "$generic" "$(known)" 1
for event in r08:u "$pmu/inst_retired/u" "$pmu/event=0x8/u"; do
	near "$event" "$(column "$event" 1)" "$generic" 0.01
done
