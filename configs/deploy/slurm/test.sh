#!/bin/bash
# make test-slurm: brings up a Slurm of one node, runs an array of 8 shards with
# robocensus.sbatch, which write to an S3 server, disturbs four of them, and compares the
# tables with those of an undisturbed run on a single machine.
#
#   test.sh BIN CORPUS
#
# BIN has robocensus, robofarm and versitygw. CORPUS has robots-real.tar.gz and hosts-ranked.csv;
# without it, the hosts of the demo serve. SLURM_ROOT is a folder with a Debian that
# has slurm-wlm and munge; if it is missing, debootstrap makes it.
#
# Slurm runs in namespaces, whose end ends every process and mount. What it writes in
# SLURM_ROOT is in memory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${SLURM_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/robocensus/slurm}
shards=8

fail() {
	echo "test-slurm: $*" >&2
	exit 1
}

say() { echo "$(date -u +%T) $*"; }

# until_true waits until a command succeeds, with a limit in seconds.
until_true() {
	local limit=$((SECONDS + $1)) what=$2
	shift 2
	until "$@"; do
		[ $SECONDS -lt $limit ] || fail "$what: not so after the time limit"
		sleep 0.2
	done
}

outside() {
	[ "$(id -u)" = 0 ] || fail "needs root, for namespaces and a chroot"
	for tool in unshare ip chroot; do
		command -v "$tool" >/dev/null || fail "needs $tool (Debian: util-linux, iproute2, coreutils)"
	done
	if ! chroot "$root" sh -c 'command -v slurmctld && command -v munged' >/dev/null 2>&1; then
		[ ! -e "$root" ] || fail "$root has no slurm-wlm and munge: set SLURM_ROOT to a folder that has, or that does not exist"
		command -v debootstrap >/dev/null ||
			fail "needs a Debian with Slurm: install debootstrap, or set SLURM_ROOT to a folder with slurm-wlm and munge"
		say "debootstrap installs slurm-wlm and munge in $root"
		mkdir -p "$(dirname "$root")"
		making=$(mktemp -d "$root.XXXXXX")
		trap 'rm -rf --one-file-system "$making"' EXIT
		chmod 755 "$making"
		debootstrap --variant=minbase --include=slurm-wlm,munge,procps bookworm "$making" >"$making.log" 2>&1 ||
			fail "debootstrap failed: see $making.log"
		rm "$making.log"
		mv "$making" "$root"
		trap - EXIT
	fi
	if [ ! -x "$1/robocensus" ] || [ ! -x "$1/robofarm" ] || [ ! -x "$1/versitygw" ]; then
		fail "$1 has no robocensus, robofarm and versitygw: make test-slurm builds them"
	fi
	work=$(mktemp -d)
	unshare --mount --net --ipc --uts --pid --fork --kill-child --mount-proc -- "$here/test.sh" inside "$work" "$@" &
	space=$!
	trap 'kill -KILL "$space" 2>/dev/null && sleep 1; rm -rf --one-file-system "$work"' EXIT
	trap 'exit 130' INT TERM
	wait "$space"
	# Beside the objects DuckDB takes them for files; the views then name these.
	"$1/robocensus" prune --out "$work/store/census/array" --keep 1 >/dev/null
	cd "$here/../../../sink/duckdb"
	CGO_ENABLED=1 "${GO:-go}" test -vet=off -count=1 -run '^TestTablesOfArray$' . -one-machine "$work/single" -array "$work/store/census/array"
}

slurm_conf() {
	cat <<'C'
ClusterName=test
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=30
MinJobAge=3600
# How long a requeued job waits before it starts again; 120 seconds by default.
AuthInfo=cred_expire=10
NodeName=localhost CPUs=8 Boards=1 SocketsPerBoard=8 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
C
}

in_root() { chroot "$root" "$@"; }

start_network() {
	ip link set lo up
	# With loopback alone, getaddrinfo does not resolve localhost for Slurm.
	ip link add v0 type veth peer name v1
	ip addr add 192.0.2.1/24 dev v0
	ip link set v0 up
	ip link set v1 up
	hostname localhost
}

start_slurm() {
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys" # slurmd looks for cgroups
	mount --rbind /dev "$root/dev"
	for folder in run tmp mnt var/spool var/log etc/slurm etc/munge; do
		mkdir -p "$root/$folder"
		mount -t tmpfs tmpfs "$root/$folder"
	done
	chmod 1777 "$root/tmp"
	mkdir -p "$root"/var/spool/{slurmd,slurmctld} "$root"/{run,var/log}/munge "$root"/mnt/{bin,census}
	mount --bind "$bin" "$root/mnt/bin"
	mount --bind "$work" "$root/mnt/census"
	slurm_conf >"$root/etc/slurm/slurm.conf"
	echo '127.0.0.1 localhost' >"$root/run/hosts"
	touch "$root/etc/hosts"
	mount --bind "$root/run/hosts" "$root/etc/hosts"
	head -c 1024 /dev/urandom >"$root/etc/munge/munge.key"
	in_root chown -R munge:munge /etc/munge /run/munge /var/log/munge
	chmod 700 "$root/etc/munge" "$root/var/log/munge"
	chmod 400 "$root/etc/munge/munge.key"
	in_root su -s /bin/sh munge -c /usr/sbin/munged || fail "munged does not start"
	until_true 20 "munge answers" sh -c "chroot '$root' munge -n >/dev/null 2>&1"
	in_root slurmctld || fail "slurmctld: $(tail -5 "$root/var/log/slurmctld.log")"
	in_root slurmd -N localhost || fail "slurmd: $(tail -5 "$root/var/log/slurmd.log")"
	until_true 60 "the node is idle" sh -c "chroot '$root' sinfo -h -o %T 2>/dev/null | grep -qx idle"
}

# log_of prints the log of a shard.
log_of() { cat "$work"/log/*_"$1" 2>/dev/null || true; }

# has_logged reports whether the log of a shard has a line.
has_logged() { log_of "$1" | grep -q "$2"; }

# under_way waits until a shard has answers of more than 9 hosts.
under_way() { until_true 60 "shard $1 is under way" has_logged "$1" 'fetched=[0-9][0-9]'; }

inside() {
	work=$1 bin=$2 corpus=$3
	trap '[ $? = 0 ] || tail -n 5 "$work"/log/* >&2' EXIT
	trap 'exit 130' INT TERM # the first process of a namespace ignores them otherwise
	start=$SECONDS
	start_network
	export PATH="$bin:$PATH"
	if [ -r "$corpus/robots-real.tar.gz" ]; then
		cp "$corpus/robots-real.tar.gz" "$work/files.tar.gz"
		cp "$corpus/hosts-ranked.csv" "$work/hosts.csv"
		files=$work/files.tar.gz
	else
		say "no corpus in $corpus: the hosts of the demo serve"
		files=$here/../../../testdata/demo/hosts
		(cd "$files" && ls) >"$work/hosts.csv"
		# Enough hosts that no file exists for, to be interrupted at.
		seq -f 'none%g.example' 4000 >>"$work/hosts.csv"
	fi
	robofarm serve --dir "$files" --http 127.0.0.1:0 --addr-file "$work/farm" --latency uniform:100ms-500ms >/dev/null &
	until_true 60 "the farm answers" test -s "$work/farm"
	farm=$(sed 's,^http://,,' "$work/farm")

	printf -- '- {name: %s}\n' GPTBot Googlebot CCBot Nobody >"$work/agents.yaml"
	settings=(--hosts "$work/hosts.csv" --agents "$work/agents.yaml" --run r --schemes http --connect-to "$farm" --profile "google,rfc9309" --keep-bodies)
	began=$SECONDS
	robocensus run "${settings[@]}" --out "$work/single" --progress none >/dev/null
	say "a single machine: $((SECONDS - began)) s"

	start_slurm
	say "$(in_root sinfo -V): up"
	unset "${!AWS_@}" # those of this machine
	export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test-test AWS_EC2_METADATA_DISABLED=true
	export AWS_ENDPOINT_URL=http://127.0.0.1:7070 OUT=s3://census/array
	mkdir -p "$work/store/census"
	ROOT_ACCESS_KEY=test ROOT_SECRET_KEY=test-test versitygw --port 127.0.0.1:7070 posix "$work/store" >"$work/versitygw.log" 2>&1 &
	until_true 20 "the S3 server answers" bash -c "exec 3<>/dev/tcp/127.0.0.1/7070" 2>/dev/null
	array=$work/store/census/array

	# A shard takes a minute at least, so that the time limit meets one in the middle:
	# Slurm looks every 30 seconds.
	mkdir "$work/log"
	cp "$here/robocensus.sbatch" "$work/"
	settings[1]=/mnt/census/hosts.csv settings[3]=/mnt/census/agents.yaml
	in_root env PATH="/mnt/bin:$PATH" robocensus plan "${settings[@]}" --shards $shards --concurrency 3 --out "$OUT"
	# The spool of shard 3 is a file: its first attempt ends with 74.
	mkdir -p "$work/spool/robocensus-r"
	# Its name has the beginning of the plan's digest, which is the last line but one.
	digest=$(sed -n 's/^ "sha256": "\([0-9a-f]\{12\}\).*/\1/p' "$array/_runs/r/plan.json" | tail -n 1)
	spool="$work/spool/robocensus-r/3-of-$shards.$digest.0"
	touch "$spool"
	began=$SECONDS
	job=$(in_root env PATH="/mnt/bin:$PATH" RUN=r sbatch --parsable --chdir=/mnt/census --mem=100M --time=1:00:00 \
		--array=0-$((shards - 1)) --output=/mnt/census/log/%A_%a /mnt/census/robocensus.sbatch --spool /mnt/census/spool)
	say "job $job: an array of $shards shards"

	until_true 60 "shard 3 ends with 74" has_logged 3 'exit code 74'
	rm "$spool"
	say "shard 3: exit code 74, for a file where its spool should be; removed"

	under_way 2
	in_root scontrol update JobId="${job}_2" TimeLimit=2
	say "shard 2: its time limit is 2 minutes now"
	under_way 0
	in_root scontrol requeue "${job}_0"
	say "shard 0: requeued by the operator"

	under_way 1
	kill -KILL "$(pgrep -f '^robocensus run .*--shard 1 ')"
	say "shard 1: SIGKILL"

	until_true 150 "shard 2 ends at the time limit" has_logged 2 'at the time limit'
	say "shard 2: ended at the time limit"
	in_root scontrol update JobId="${job}_2" TimeLimit=60

	until_true 400 "the queue is empty" sh -c "[ -z \"\$(chroot '$root' squeue -h)\" ]"
	say "the array: $((SECONDS - began)) s"
	for i in $(seq 0 $((shards - 1))); do
		state=$(in_root scontrol show job "${job}_$i" | grep -oE '(JobState|Restarts|ExitCode)=[^ ]*' | tr '\n' ' ')
		echo "  shard $i: $state$(log_of "$i" | grep -oE 'exit code [0-9]+.*' | tr '\n' ';')"
		grep -q 'JobState=COMPLETED' <<<"$state" || fail "shard $i has not completed"
	done
	for i in 0 1 2 3; do
		has_logged "$i" ', restart 1$' || fail "shard $i was not requeued"
	done
	has_logged 0 'exit code 75, stopped by Slurm' || fail "SIGTERM did not end shard 0 with 75"
	has_logged 1 'exit code 137' || fail "shard 1 was not killed"
	has_logged 2 'exit code 75, at the time limit' || fail "shard 2 did not end with 75 at the time limit"
	robocensus verify --out "$OUT" r
	# The views name each object that the manifest names, and no other.
	diff <(grep -o "s3://census/array/[^']*/run=r/[^']*\.parquet" "$array/views.sql" | sed "s,^s3://census/array/,," | sort -u) \
		<(grep -o '"path": *"[a-z]*/run=r/[^"]*\.parquet"' "$array/_runs/r/manifest.json" | grep -o '[a-z]*/run=r/[^"]*' | sort -u) ||
		fail "views.sql names other objects than the manifest"
	say "views.sql names the objects of the manifest"
	say "in all: $((SECONDS - start)) s"
}

if [ "${1:-}" = inside ]; then
	shift
	inside "$@"
else
	[ $# = 2 ] || fail "usage: test.sh BIN CORPUS"
	outside "$@"
fi
