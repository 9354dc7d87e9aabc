# The shards of a planned run as targets of GNU make, on one machine or under a make that
# sends recipes to others:
#
#   robocensus plan --hosts hosts.csv --shards 8 --parallelism 4 --out out --run 2026-11
#   make -f shards.mk -k -j 4 OUT=out RUN=2026-11 SHARDS=8
#
# -j is the --parallelism of the plan; -k continues with the other shards after one has failed.
# Made again, shards that are committed end at once, and interrupted ones resume.
# FLAGS go to robocensus run, such as FLAGS='--memory 2G'.

ROBOCENSUS ?= robocensus
RETRIES ?= 10
PAUSE ?= 60
FLAGS ?=

ifneq ($(MAKECMDGOALS),help)
$(foreach name,OUT RUN SHARDS,$(if $($(name)),,$(error $(name) is not set: see the head of shards.mk)))
endif

shards := $(addprefix shard-,$(shell seq 0 $$(($(SHARDS) - 1))))

.PHONY: verified $(shards)
verified: $(shards)
	$(ROBOCENSUS) verify --out '$(OUT)' '$(RUN)'

# Try again after 69 (no host could be reached), 74 (a disk or a store), 75 (no network)
# and 137 (SIGKILL, as for want of memory); see README.md. This shell passes SIGTERM on,
# and then robocensus ends with 75 because it is told to: nobody wants it back.
$(shards): shard-%:
	@stopped=; trap 'stopped=1; kill -TERM $$!' TERM; trap 'stopped=1' INT; \
	for attempt in $$(seq 0 $(RETRIES)); do \
		$(ROBOCENSUS) run --out '$(OUT)' --run '$(RUN)' --shard $* --progress none $(FLAGS) & \
		while kill -0 $$! 2>/dev/null; do wait $$!; done; wait $$!; code=$$?; \
		case $$code in 69 | 74 | 75 | 137) ;; *) exit $$code ;; esac; \
		[ -z "$$stopped" ] || exit $$code; \
		[ $$attempt -eq $(RETRIES) ] || { echo "shard $*: exit code $$code; trying again in $(PAUSE) s" >&2; sleep $(PAUSE); }; \
	done; exit $$code
