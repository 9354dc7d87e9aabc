# robocensus: a census of crawl policies. `make help` lists what there is.

GO      ?= go
OUT     ?= out
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)

# Tools that only the checks need, by version.
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
CYCLONEDX   = github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

.DEFAULT_GOAL := help

# One set of build flags for all targets, so that none compiles again what another
# has compiled. What needs C (the race detector, DuckDB) sets CGO_ENABLED itself; the
# tags give it the code that a static binary has, and leave out what arrow-go
# does not need: a JSON package, and pages of gRPC, whose templates keep the linker from
# dropping methods. Nobody reads the DWARF: -ldflags=-s drops it from binaries.
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath -ldflags=-s -gcflags=all=-dwarf=false -tags=netgo,osusergo,pebblegozstd,arrow_json_stdlib,grpcnotrace
export CGO_ENABLED := 0

# How often make torture kills each of its two runs, and how often it sends each
# signal to others.
KILLS ?= 500
STOPS ?= 10

# Tests bring thousands of small files to disk, and wait for it. Where a folder in
# memory has 6 GB free, they and the compiler use that. (Not the tests alone: testing
# makes their folders below GOTMPDIR, and with -exec nothing is cached.)
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 6000000 { print "/dev/shm" }')
ifneq ($(and $(IN_MEMORY),$(shell test -w /dev/shm && echo writable)),)
test-unit test-race test-duckdb test-s3 test-engines soak torture fuzz: export TMPDIR := $(IN_MEMORY)
endif

# The compiler, the linker and most processes of a test are small and live for seconds:
# by default they spend up to a third of their time on collecting garbage. soak, torture
# and fuzz leave the default.
test vet lint test-unit test-race test-duckdb test-s3: export GOGC := 400

# How long make fuzz runs each target, and those that it runs.
FUZZTIME ?= 1m
FUZZ     ?= .

.PHONY: help run build man release vet test test-unit test-race soak unit-alone unit-others unit-modules test-duckdb test-s3 test-engines test-slurm test-kubernetes torture fuzz bench lint query

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## a census of a small web on this machine: no network, no configuration; tables in out/
	$(GO) run ./cmd/robocensus demo --out $(OUT)

build: ## one static binary each in bin/: robocensus and robofarm
	$(GO) build -ldflags '-s -X github.com/robocensus/robocensus/cmd/internal/cli.ToolVersion=$(VERSION)' -o bin/ ./cmd/robocensus ./cmd/robofarm

man: ## man pages in bin/man: man -l bin/man/robocensus-run.1
	rm -rf bin/man
	$(GO) test -count=1 -run '^TestManPages$$' ./cmd/robocensus -args -man $(abspath bin/man)

# The time of the commit, not of the day: a release is equal to the byte whenever it is made.
release: export SOURCE_DATE_EPOCH := $(shell git log -1 --format=%ct 2>/dev/null)
release: man ## archives for Linux, macOS and Windows and an image in release/, with sums and lists of modules: make release VERSION=1.0.0
	for os in windows darwin; do GOOS=$$os $(GO) vet ./... || exit 1; done  # the tests too compile there
	$(GO) run ./cmd/internal/release --version '$(VERSION)' --sbom $(CYCLONEDX)

# Four parts at a time, the longest first: while one waits, for a clock or for its last
# package, the others compute. Vetting compiles the packages before: with an empty build
# cache, all parts would compile the same ones.
test: vet ## every check of a change, with -short: fewer draws, smaller lists; make soak runs the same without
	@$(MAKE) --no-print-directory -o vet -j 4 test-duckdb test-race test-unit test-s3 lint

# Tests wait more than they compute, so more of them run side by side than there are
# processors. lint vets.
TEST = $(GO) test -vet=off -parallel 8 -timeout 30m

# The packages whose goroutines share memory, the slowest first. Of these test-race runs
# all tests but those whose names end in _NoRace, and test-unit these: they run nothing
# concurrent that others do not, or measure time. The tests of the pipeline and of the
# command run the goroutines of the other packages too; soak adds the own tests of
# those. A test binary takes two seconds to link, and more for the detector, which would
# wait a second before a process ends.
CONCURRENT = ./cmd/robocensus ./sink ./pipeline ./fetch/client ./fetch/names ./fetch/outage ./cmd/internal/farm ./sink/store
SHARING    = ./cmd/internal/flags ./cmd/robofarm ./pipeline/audit/... ./pipeline/series ./pipeline/source/... ./sink/export ./sink/publish ./sink/summary ./sink/verify
RACE       = GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(TEST) -race -skip '_NoRace$$'

# The cache of go test knows the files of a test's module. Tests of the modules below
# this one read files of this one too, or build its commands. So the sum of all files
# is part of their key: as the name of a test to skip, which there is not. Without git
# the time takes its place, and nothing is cached.
SUM = -skip sum_$(shell { git ls-files --error-unmatch Makefile >/dev/null && git ls-files -zco --exclude-standard || date +%s; find ../shared/ -type f -print0; } 2>&1 | xargs -0 cksum 2>&1 | cksum | tr ' ' _)

test-unit: unit-alone unit-others unit-modules ## the tests that test-race leaves out, and beside other parsers where the data for it is there

unit-alone:
	$(TEST) -parallel 16 -short -run '_NoRace$$' $(filter $(CONCURRENT),$(sort $(shell grep -rl --include='*_test.go' '^func Test.*_NoRace' . | xargs -n 1 dirname)))

unit-others:
	$(TEST) -short $(filter-out $(CONCURRENT:.%=github.com/robocensus/robocensus%),$(shell $(GO) list ./...))

unit-modules:
	cd robots/compare && $(TEST) $(SUM) -short ./...
	cd fetch/warc/others && $(TEST) $(SUM) -short ./...
	cd configs/check && $(TEST) $(SUM) -short ./...
	cd sink/engines/writers && $(TEST) -short ./...

test-race: ## the packages that run goroutines under the race detector (needs a C compiler)
	$(RACE) -short $(CONCURRENT)

# Of a run of several segments most is work on many hosts, which larger segments only repeat.
test-duckdb: export GOFLAGS := $(GOFLAGS),smallsegments
test-duckdb: ## DuckDB over tables that the command has written; every command and query of the documents
	cd sink/duckdb && CGO_ENABLED=1 $(TEST) $(SUM) -parallel 16 -short .

test-s3: ## runs in an object store: a real S3 server, behind a proxy that disturbs; builds the server the first time
	cd sink/s3 && $(TEST) -short ./...

soak: ## the tests of make test without -short: all draws, whole lists, the whole corpus of real files; runs in MinIO too, built the first time, 4 minutes of CPU
	$(TEST) -timeout 0 ./...
	cd robots/compare && $(TEST) ./...
	cd fetch/warc/others && $(TEST) ./...
	cd configs/check && $(TEST) ./...
	cd sink/engines/writers && $(TEST) ./...
	cd sink/s3 && $(TEST) ./...
	$(GO) vet -tags gcs,azure ./sink/store/remote
	$(TEST) -tags gcs,azure ./sink/store/remote
	$(RACE) -timeout 0 $(CONCURRENT) $(SHARING)
	cd sink/duckdb && CGO_ENABLED=1 $(TEST) -timeout 0 -count=1 .

test-engines: build ## ClickHouse, DuckDB and Polars over all tables, filtered by every column of texts, beside arrow-rs; warcio over the evidence: needs Node.js 20; installs the engines the first time, 750 MB
	cd sink/engines && npm install --no-save && node --test

test-slurm: build ## an array of shards under a real Slurm, into an S3 server, disturbed: needs root, and debootstrap or SLURM_ROOT=DIR (configs/deploy/slurm/test.sh)
	cd sink/s3 && $(GO) build -o ../../bin/versitygw github.com/versity/versitygw/cmd/versitygw
	GO=$(GO) configs/deploy/slurm/test.sh $(abspath bin) $(abspath ../shared/corpus)

test-kubernetes: build ## the Indexed Job under a real control plane, disturbed: needs root; builds etcd and Kubernetes, or KUBERNETES_BIN=DIR (configs/deploy/kubernetes/test.sh)
	GO=$(GO) configs/deploy/kubernetes/test.sh $(abspath bin) $(abspath ../shared/corpus)

torture: ## runs stopped and killed at random moments, resumed and held against undisturbed ones: make torture KILLS=500 STOPS=10
	cd sink/duckdb && CGO_ENABLED=1 $(TEST) -count=1 -v -timeout 0 -run 'Torture|SameBytes|Stops' . -kills $(KILLS) -stops $(STOPS)

# Of each input that is new the fuzzer would look for a shorter one for a minute,
# and do little else where coverage varies from call to call.
fuzz: ## every fuzz target, as the code has them, for a minute each, half an hour in all: make fuzz FUZZTIME=10m FUZZ=FuzzWARC
	@failed=; for folder in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n 1 dirname | sort -u); do \
		for target in $$(cd $$folder && $(GO) test -list '^Fuzz' . | grep '^Fuzz' | grep '$(FUZZ)'); do \
			echo "$$folder $$target"; \
			(cd $$folder && $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .) || failed="$$failed $$folder:$$target"; \
		done; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

bench: ## benchmarks: parser and verdicts, beside other packages; whole runs, beside bare connections; segments, on disk and in memory; files joined, beside copied
	$(GO) test -run '^$$' -bench . -benchmem ./robots ./robots/dialect ./robots/portable ./cmd/internal/farm
	cd robots/compare && GOMAXPROCS=1 $(GO) test -run '^$$' -bench . ./...
	$(GO) test -run '^$$' -bench . ./cmd/robocensus ./cmd/internal/check
	$(GO) test -run '^$$' -bench . ./sink

vet:
	$(GO) vet ./...

lint: vet ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these files"; exit 1; }
	cd sink/duckdb && CGO_ENABLED=1 $(GO) vet ./...
	cd robots/compare && $(GO) vet ./...
	cd fetch/warc/others && $(GO) vet ./...
	cd sink/s3 && $(GO) vet ./...
	cd configs/check && $(GO) vet ./...
	cd sink/engines/writers && $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

query: ## DuckDB for those who have not installed it: make query SQL="SELECT ..."
	@cd sink/duckdb && CGO_ENABLED=1 $(GO) run . $(abspath $(OUT)) "$$SQL"
