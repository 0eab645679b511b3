#!/bin/sh
# User and kernel mode are told apart: writing byte by byte is nearly all system calls, the loop
# has next to none, and the two modes add up to the whole.
# shellcheck source=../lib.sh
. /lib/case.sh

modes=instructions,instructions:u,instructions:k

count $modes loop 20000000
near "user part of the loop" "$(column instructions:u 1)" "$(known)" 1
between "kernel part of the loop" "$(column instructions:k 1)" 1 2000000

count $modes dd if=/dev/zero of=/dev/null bs=1 count=20000
user=$(column instructions:u 1)
kernel=$(column instructions:k 1)
number "instructions:u" "$user"
number "instructions:k" "$kernel"
near "user + kernel" $((user + kernel)) "$(column instructions 1)" 1
between "kernel part of dd" "$kernel" $((2 * user)) $((100 * user))
