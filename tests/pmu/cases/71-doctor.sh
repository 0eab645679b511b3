#!/bin/sh
# The doctor finds the PMU and calls it fit for counting and sampling.
# shellcheck source=../lib.sh
. /lib/case.sh

# Other findings may well be bad news here; its status is not ours to judge.
tacho doctor >report || true
grep -i pmu report
grep -Eiq '^ *ok .*pmu.*armv8.*sampl' report || fail "no line says that a PMU is there and well"
