#!/bin/bash
# make test-kubernetes: applies robocensus.yaml to a real control plane, disturbs four
# of 8 shards, and compares the tables with those of a run on one machine. The test
# itself is TestJobUnderKubernetes in configs/check, which plays the nodes.
#
#   test.sh BIN CORPUS
#
# BIN has robocensus and robofarm. CORPUS has robots-real.tar.gz and hosts-ranked.csv;
# without it, the hosts of the demo serve. KUBERNETES_BIN is a folder with etcd,
# kube-apiserver, kube-controller-manager and versitygw, an S3 server; what it lacks is
# built from their modules.
#
# All servers run in namespaces, whose end ends every process and mount.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kubernetes=1.36.3 etcd=3.7.3 versitygw=1.8.0
servers=$(realpath -m "${KUBERNETES_BIN:-${XDG_CACHE_HOME:-$HOME/.cache}/robocensus/kubernetes-$kubernetes}")
go=${GO:-go}

fail() {
	echo "test-kubernetes: $*" >&2
	exit 1
}

say() { echo "$(date -u +%T) $*"; }

# build builds packages to a path. A go.mod with their module is on standard input.
build() {
	local to=$1 flags=$2 folder
	shift 2
	folder=$(mktemp -d -p "$work")
	cat >"$folder/go.mod"
	(cd "$folder" && CGO_ENABLED=0 GOFLAGS='-mod=mod -trimpath' nice "$go" build -ldflags "-s -w $flags" -o "$to" "$@") >"$folder/log" 2>&1 ||
		fail "cannot build $*: $(tail -n 5 "$folder/log")"
}

# kubernetes_mod prints the go.mod of Kubernetes, with itself as a dependency. Some of
# its modules are folders of its repository; they are published as 0.36.3 where
# Kubernetes is 1.36.3.
kubernetes_mod() {
	local mod
	mod=$("$go" mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
	sed -e 's,^module .*,module servers,' -e "s,=> ./staging/src/\(k8s.io/.*\),=> \1 v0.${kubernetes#1.}," "$mod"
	echo "require k8s.io/kubernetes v$kubernetes"
}

build_servers() {
	local began=$SECONDS
	mkdir -p "$servers"
	if [ ! -x "$servers/kube-apiserver" ] || [ ! -x "$servers/kube-controller-manager" ]; then
		say "building Kubernetes $kubernetes in $servers"
		kubernetes_mod | build "$servers/" "-X k8s.io/component-base/version.gitVersion=v$kubernetes" k8s.io/kubernetes/cmd/kube-{apiserver,controller-manager}
	fi
	if [ ! -x "$servers/etcd" ]; then
		say "building etcd $etcd in $servers"
		printf 'module servers\ngo 1.26.0\nrequire go.etcd.io/etcd/server/v3 v%s\n' $etcd | build "$servers/etcd" '' go.etcd.io/etcd/server/v3
	fi
	if [ ! -x "$servers/versitygw" ]; then
		say "building versitygw $versitygw in $servers"
		printf 'module servers\ngo 1.26.0\nrequire github.com/versity/versitygw v%s\n' $versitygw | build "$servers/versitygw" '' github.com/versity/versitygw/cmd/versitygw
	fi
	say "built: $((SECONDS - began)) s"
}

outside() {
	[ "$(id -u)" = 0 ] || fail "needs root, for namespaces and a chroot"
	for tool in unshare ip openssl; do
		command -v $tool >/dev/null || fail "needs $tool (Debian: util-linux, iproute2, openssl)"
	done
	if [ ! -x "$1/robocensus" ] || [ ! -x "$1/robofarm" ]; then
		fail "$1 has no robocensus and robofarm: make build"
	fi
	work=$(mktemp -d)
	space=
	trap '[ -z "$space" ] || { kill -KILL "$space" && sleep 1; } 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
	trap 'exit 130' INT TERM
	build_servers
	(cd "$here/../../check" && "$go" test -c -o "$work/check.test" .)
	mkdir "$work/test"
	unshare --mount --net --pid --fork --kill-child --mount-proc -- "$here/test.sh" inside "$work" "$@" &
	space=$!
	wait $space
	space=
	cd "$here/../../../sink/duckdb"
	CGO_ENABLED=1 "$go" test -vet=off -count=1 -run '^TestTablesOfArray$' . -one-machine "$work/test/single" -array "$work/test/array"
	say "in all: $SECONDS s"
}

inside() {
	trap 'exit 130' INT TERM # the first process of a namespace ignores them otherwise
	ip link set lo up
	cd "$here/../../check"
	"$1/check.test" -test.v -test.run '^TestJobUnderKubernetes$' -binaries "$servers" -bin "$2" -corpus "$3" -work "$1/test" >"$1/log" &
	wait $! || {
		tail -n 200 "$1/log" >&2
		exit 1
	}
}

if [ "${1:-}" = inside ]; then
	shift
	inside "$@"
else
	[ $# = 2 ] || fail "usage: test.sh BIN CORPUS"
	outside "$@"
fi
