#!/bin/busybox sh
# shellcheck shell=sh
# First process of the emulated machine: runs every executable /cases/*.sh in order and
# reports in the protocol that tools/pmu-boot reads, then powers off.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tracefs tracefs /sys/kernel/tracing
mount -t tmpfs tmpfs /tmp

# A limit per case, in the guest's own time: 10 s of it are 5 billion instructions.
run_case() {
	mkdir -p /tmp/case
	cd /tmp/case || return
	timeout -s KILL 10 "$1" >/tmp/output 2>&1
	status=$?
	# What a case leaves running would be counted in the next one.
	kill -KILL -1 2>/dev/null
	sed 's/^/  /' /tmp/output
	reason=$(cat /tmp/case/reason 2>/dev/null)
	case $status in
	0) echo "PASS $2" ;;
	77) echo "SKIP $2: ${reason:-no reason given}" ;;
	137) echo "FAIL $2: ${reason:-killed, or not done after 10 s of guest time}" ;;
	*) echo "FAIL $2: ${reason:-status $status}" ;;
	esac
	cd /
	rm -rf /tmp/case /tmp/output
}

for file in /cases/*.sh; do
	[ -x "$file" ] || continue
	name=${file##*/}
	name=${name%.sh}
	echo "CASE $name"
	run_case "$file" "$name"
done
echo END
poweroff -f
