#!/bin/sh
# The census of one week: run, verify, compare with the week before, report, and
# remove old runs. If started again in the same week, it continues; once the week
# is done (its report exists), it does nothing.
#
#   weekly.sh DIR HOSTS [flags of robocensus run]
#
# DIR gets tables/, state/ and reports/. HOSTS must not change until the week is
# done. A week that is not done when the next one begins stays unfinished.
# Environment: KEEP, the number of complete runs to keep (default 26); EXPECT, a file
# of expectations; WEEK, such as 2026-W47 (default the current week, UTC). Run one at
# a time: see robocensus.cron.
#
# Exit codes: 0 done; 1 done, with a broken expectation; 64 usage and 65 bad input:
# fix it before starting again; 69 no host could be reached: start again later; 74
# disk failure or damaged tables; 75 this machine is cut off from the network, another
# run has the state, or SIGTERM, and 130 Ctrl-C: start again. Any other code is that of a signal.
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ]; then
	echo "usage: weekly.sh DIR HOSTS [flags of robocensus run]" >&2
	exit 64
fi
dir=$1 hosts=$2
shift 2
tables=$dir/tables
week=${WEEK:-$(date -u +%G-W%V)}
report=$dir/reports/$week.html

# Ctrl-C reaches robocensus itself. SIGTERM may reach only this shell: as process 1
# of a container, or under KillMode=mixed. It is forwarded once, because a second
# signal ends robocensus at once.
child='' stopped=''
trap 'stopped=130' INT
trap 'stopped=75; [ -z "$child" ] || kill "$child"' TERM

# step runs a robocensus command and accepts the exit codes 0 and 1. A signal ends
# the first wait, but not the command.
step() {
	[ -z "$stopped" ] || exit "$stopped"
	robocensus "$@" &
	child=$!
	code=0
	wait "$child" || code=$?
	while [ "$code" -gt 128 ] && kill -0 "$child" 2>/dev/null; do
		code=0
		wait "$child" || code=$?
	done
	child=''
	if [ "$code" -gt 1 ]; then
		echo "weekly.sh: robocensus $1 of $week failed with exit code $code" >&2
		exit "$code"
	fi
}

if [ -e "$report" ]; then
	echo "$week is done: $report"
	exit 0
fi
mkdir -p "$dir/reports"

# The last complete run before this week. The names sort by time.
before=''
for manifest in "$tables"/_runs/[0-9][0-9][0-9][0-9]-W[0-9][0-9]/manifest.json; do
	run=${manifest%/manifest.json}
	run=${run##*/}
	if [ "$run" = "$week" ]; then
		break
	elif grep -q '"state": "complete"' "$manifest" 2>/dev/null; then
		before=$run
	fi
done
# diff also checks the expectations of the later run, so run need not.
first=${EXPECT:-}
[ -z "$before" ] || first=''

step run --hosts "$hosts" --out "$tables" --run "$week" --resume \
	--state "$dir/state" --max-age 0 ${first:+--expect "$first"} "$@"
broken=$code

step verify --out "$tables" "$week"
if [ "$code" -ne 0 ]; then
	echo "weekly.sh: the tables of $week are not whole; nothing is removed" >&2
	exit 74
fi

if [ -n "$before" ]; then
	step diff --out "$tables" ${EXPECT:+--expect "$EXPECT"} "$before" "$week"
	broken=$code
fi

step report --out "$tables" "$week" ${before:+--against "$before"} --html "$report.tmp"
step prune --out "$tables" --keep "${KEEP:-26}"
mv "$report.tmp" "$report"
exit "$broken"
