#!/bin/sh
# The census of one week: run, verify, compare with the week before, report, and
# remove old runs. If started again in the same week, it continues; once the week
# is done (its report exists), it only says again how it ended, and exits so.
#
#   weekly.sh DIR HOSTS [flags of robocensus run]
#
# DIR gets tables/, state/ and reports/. HOSTS must not change until the week is
# done. A week that is not done when the next one begins stays unfinished.
# Environment: KEEP, the number of complete runs to keep (default 26); EXPECT, a file
# of expectations; WEEK, such as 2026-W47 (default the current week, UTC). Run one at
# a time: see robocensus.cron.
#
# A week that was missed, or is unfinished, can be taken later by its name in WEEK, as
# long as no later week is complete. Each run has the Monday of its week as its date.
#
# What is broken is said first, with the path of the list; then what the commands say. The
# report of such a week has the same beside it, as reports/WEEK.broken.txt.
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
keep=${KEEP:-26}
report=$dir/reports/$week.html
alert=$dir/reports/$week.broken.txt

refuse() {
	echo "weekly.sh: $1" >&2
	exit 64
}

# is_week NAME: is it a week of ISO 8601, such as 2026-W47? A year has 53 weeks if it
# ends on a Thursday or the year before it ended on a Wednesday.
is_week() {
	case $1 in
	[12][0-9][0-9][0-9]-W0[1-9] | [12][0-9][0-9][0-9]-W[1-4][0-9] | [12][0-9][0-9][0-9]-W5[0-2]) return 0 ;;
	[12][0-9][0-9][0-9]-W53) ;;
	*) return 1 ;;
	esac
	year=${1%-W53} last=$((${1%-W53} - 1))
	[ $(((year + year / 4 - year / 100 + year / 400) % 7)) -eq 4 ] ||
		[ $(((last + last / 4 - last / 100 + last / 400) % 7)) -eq 3 ]
}

# All that can be wrong is found before the census, which may take hours.
is_week "$week" || refuse "WEEK $week is no week: give one such as 2026-W47, from W01 to W52 or, in some years, W53"
case $keep in
0* | *[!0-9]* | ??????????*) refuse "KEEP $keep: give the number of complete runs to keep, 1 or more" ;;
esac
if [ -n "${EXPECT:-}" ] && ! [ -r "$EXPECT" ]; then
	echo "weekly.sh: EXPECT $EXPECT cannot be read: give a file of expectations" >&2
	exit 65
fi

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
	robocensus "$@" >"$said.$1" &
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

# tell prints what the commands said, whose output waits until it is known whether
# anything is broken; a step that fails says why on standard error at once.
tell() {
	for name in "$@"; do
		[ ! -s "$said.$name" ] || cat "$said.$name"
		rm -f "$said.$name"
	done
}

if [ -e "$report" ]; then
	if [ -e "$alert" ]; then
		cat "$alert"
		echo "$week is done: $report"
		exit 1
	fi
	echo "$week is done: $report"
	exit 0
fi

# The last complete run before this week. The digits of weeks are numbers that grow
# with time. A run in the past would be compared with the wrong one.
number() { echo "${1%-W*}${1#*-W}"; }
before=''
for manifest in "$tables"/_runs/[12][0-9][0-9][0-9]-W[0-9][0-9]/manifest.json; do
	run=${manifest%/manifest.json}
	run=${run##*/}
	if ! is_week "$run" || ! grep -q '"state": "complete"' "$manifest" 2>/dev/null; then
		continue
	elif [ "$(number "$run")" -gt "$(number "$week")" ]; then
		refuse "WEEK $week is earlier than the last complete run, $run: a week can be made up only before a later one is complete"
	elif [ "$run" != "$week" ] && { [ -z "$before" ] || [ "$(number "$run")" -gt "$(number "$before")" ]; }; then
		before=$run
	fi
done
# diff also checks the expectations of the later run, so run need not.
mkdir -p "$dir/reports"
said=$dir/reports/$week.said
trap 'tell run verify diff report prune' EXIT
first=${EXPECT:-}
[ -z "$before" ] || first=''

step run --hosts "$hosts" --out "$tables" --run "$week" --as-of "$week" --resume \
	--state "$dir/state" --max-age 0 ${first:+--expect "$first"} "$@"
broken=$code

# Damaged tables end it (65) before any are removed.
step verify --out "$tables" "$week"

if [ -n "$before" ]; then
	step diff --out "$tables" ${EXPECT:+--expect "$EXPECT"} "$before" "$week"
	broken=$code
fi

# The commands tell the promises in the words of the report.
rm -f "$alert"
if [ "$broken" -ne 0 ]; then
	list=$tables/_runs/$week/expectations.csv told=run
	[ -z "$before" ] || list=$tables/changes/run=$week/against=$before/expectations.csv told=diff
	{
		echo "$week: a promise is broken, or cannot be checked; all that is otherwise: $list"
		sed -n '/^Expectations$/,/^$/p; /^Broken: /,/^$/p' "$said.$told"
	} >"$alert.tmp"
	mv "$alert.tmp" "$alert"
	cat "$alert"
	sed '/^Expectations$/,/^$/d; /^Broken: /,/^$/d' "$said.$told" >"$said.rest" # which are told by now
	mv "$said.rest" "$said.$told"
fi
tell diff run verify

step report --out "$tables" "$week" ${before:+--against "$before"} --html "$report.tmp"
step prune --out "$tables" --keep "$keep"
mv "$report.tmp" "$report"
exit "$broken"
