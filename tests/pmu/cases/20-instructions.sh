#!/bin/sh
# The count of a loop whose length is known, in user mode.
# shellcheck source=../lib.sh
. /lib/case.sh

count instructions:u loop 50000000
near "instructions:u" "$(column instructions:u 1)" "$(known)" 1
