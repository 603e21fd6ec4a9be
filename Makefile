# The JobSet lab's end-to-end suite. This header is the manual; `make` prints it.
#
#   make e2e      make the real lab, walk the eight steps, report, remove the lab
#   make e2e-registry  the same in registry mode, from registries on the loopback address
#   make test     everything that needs no cluster, in seconds
#
#   make up       make the lab and leave it standing (a lab that stands is mended)
#   make steps    walk the steps on the lab that stands; STEP=4 walks one of them
#   make check    grade a learner's work: look, change nothing, say what is missing
#   make down     remove the lab and everything made for it
#   make doctor   what this machine can and cannot do, and the mend
#   make list     the steps, and what the check of each refuses and accepts; STEP=4 tells one
#   make faults   make a lab, break it in every known way, and require that each is told
#   make gpus     make a lab and prove its four GPUs on the real kubelet
#   make images   pull or build what is not cached, and list what a lab is made of
#   make images-list         what a lab is made of, and what of it is on this machine
#   make images-save FILE=f  all of it in one file, for a machine without a network
#   make images-load FILE=f  take it from such a file, every part checked
#   make lint     the linters that hold what review need not
#   make build-everywhere    build and vet for Macs and Linux, amd64 and arm64
#   make foreign  walk on clusters that this project did not make, and prove that
#                 nothing is left in them
#   make bench    time the lab's coming up, our way against the plain way
#   make record   walk a lab, and renew from it the snapshots that the tests judge
#
#   make dist     the suite as a static program to carry into a lab's VM, amd64 and arm64
#   make gate     a release's gate: walk the lab that LAB_KUBECONFIG names, or the one
#                 on the machine that SSH=user@host names; partial is failed.
#                 WAIT=5m waits that long for a lab that still boots
#   make repeat   make a lab, walk it N=10 times, tell flakes from what is broken
#   make summary  what the last run said, as Markdown
#   make report-issue        an issue about a failed night, opened or updated
#   make night    make e2e, partial is failed but for versions that LAB_MIRROR asks for
#   make dist-proof          the program of make dist walks from an empty container
#   make gate-proof          the gate through a real SSH server on the loopback address
#   make two-labs            two labs of this checkout walked at the same time
#   make hostile             signals at forty moments, and what is left after each
#
#   KEEP=1                 leave the lab standing after make e2e, or after a failure;
#                          and leave in it what a walk made, which otherwise goes
#   FRESH=1                walk although a learner's JobSets are there: they are deleted,
#                          and the learner's files moved aside
#   STEP=4                 one step, by number or name, with what it needs
#   FAULT=quota-2          that fault, or several, and not all (make faults)
#   RESTORE=1              break nothing: restore the lab that stands, in which a
#                          killed run left a fault (make faults)
#   LAB_NAME=other         another lab beside this one
#   LAB_ENGINE=podman      that container engine and no other
#   LAB_IMAGES=registry    pull the images; =source builds them; auto, the default, pulls
#                          where every registry answers within seconds, else builds
#   LAB_MIRROR=http://h:p  a mirror that stands in for every registry and download site;
#                          or a file (provision/registry/mirror.go says what it may hold)
#   LAB_KUBECONFIG=/path   walk on another lab that stands, whoever made it
#   LAB_IMAGE=name         an image that an air-gapped lab has, in place of the steps' own
#   LAB_WORKDIR=/path      the folder that stands for /root/gsb-jobset
#   LAB_REPORTS=/path      where the reports and the evidence go
#
# Needed: Go 1.26, make and, where no image registry answers, Debian 12 and root.
# What else is missing, `make e2e` installs and says so.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# What a user says is data: taken here as it was typed, and read by recipes and programs
# from the environment alone. (What was given on make's command line, make expands
# whenever it is looked at or exported, unless it was taken by $(value) before.)
GIVEN := LAB_NAME LAB_ENGINE LAB_IMAGES LAB_MIRROR LAB_KUBECONFIG LAB_IMAGE LAB_WORKDIR LAB_REPORTS \
	LAB_STEP LAB_KEEP LAB_FRESH STEP KEEP FRESH FAULT FILE N \
	SSH SSH_PORT SSH_KEY SSH_KNOWN_HOSTS KUBECONFIG_CONTENT WAIT RESULTS DRY_RUN RESTORE
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name))))
override LAB_NAME := $(or $(LAB_NAME),gsb-jobset)
override N := $(or $(N),10)
# Where the programs run without make, the bare words may be somebody else's.
$(foreach name,STEP KEEP FRESH,$(eval override LAB_$(name) := $$(or $$($(name)),$$(LAB_$(name)))))
# The reports and files of a lab of another name lie apart, so that two do not meet.
ifneq ($(LAB_NAME),gsb-jobset)
override LAB_REPORTS := $(or $(LAB_REPORTS),$(CURDIR)/.lab/$(LAB_NAME))
override LAB_WORKDIR := $(or $(LAB_WORKDIR),$(LAB_REPORTS)/gsb-jobset)
endif
export $(GIVEN)
unexport STEP KEEP FRESH

# One set of build flags, provision/source's too, so that the programs of the node
# and this suite share what is compiled. Building is what the first run waits for:
# without DWARF, which nobody reads here, and without inlining outside Go's own
# library it takes a third less, and nothing here computes enough to miss either.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false
export GOWORK := off
# The compiler's garbage collector need not run before memory is wanted: a sixth less again.
GO := env GOGC=off GOMEMLIMIT=3GiB go

LAB := .lab/bin/lab
SUITE := .lab/bin/lab-e2e
STANDIN := .lab/bin/standin
DIST := .lab/dist

TARGETS := e2e e2e-registry test up steps check down doctor images images-list images-save images-load list gpus lint \
	bench dist dist-proof gate gate-proof repeat summary report-issue night two-labs record foreign foreign-kind foreign-plain faults build-everywhere hostile
.PHONY: help named counted $(TARGETS)

# Before all else, since files are named after the lab; the rule is provision's own.
$(TARGETS) $(LAB) $(SUITE) $(STANDIN): | named
named:
	@LC_ALL=C; [[ $$LAB_NAME =~ ^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$$ ]] || { \
		printf 'LAB_NAME is %q; a lab'"'"'s name is up to 40 small letters, digits and hyphens, such as gsb-jobset\n' "$$LAB_NAME" >&2; exit 2; }

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

# The programs are built each time; Go's build cache makes that quick when nothing
# changed. Where there is flock, two makes of one checkout do not write one at once.
ALONE = mkdir -p $(@D) && $(if $(shell command -v flock),flock .lab/bin/.lock)
.PHONY: $(LAB) $(SUITE) $(STANDIN)
$(LAB):
	@[ -x $@ ] || echo " … compiling the lab program; minutes the first time, a second later on"
	@# What the images are built from is fetched meanwhile.
	@[ -x $@ ] || { go -C provision/source/programs mod download >/dev/null 2>&1 & }
	@$(ALONE) $(GO) build -ldflags '-s -w' -o $@ ./provision/cmd/lab
$(SUITE):
	@[ -x $@ ] || echo " … compiling the suite"
	@$(ALONE) $(GO) build -ldflags "$(STAMP)" -o $@ ./e2e/cmd/lab-e2e
STAMP = -s -w -X gsb.test/jobset-e2e/e2e/internal/report.Commit=$(shell git describe --always --dirty --abbrev=40 --match= 2>/dev/null || echo unknown)

$(STANDIN):
	@$(ALONE) $(GO) build -ldflags '-s -w' -o $@ ./provision/cmd/standin

# The walk is one program, the compiled suite itself: one process gets one Ctrl-C,
# and its exit status is the verdict. 3 is a partial one, which says why and which
# make takes for good; a gate does not.
WALK = $(SUITE) run
PARTLY = || [ $$? -eq 3 ]
STANDS = LAB_KUBECONFIG="$${LAB_KUBECONFIG:-$$PWD/.lab/$$LAB_NAME.kubeconfig}"

# What was asked for is looked at before a lab is made for it. The lab goes whole,
# so the walk need not take away what it made in it (--keep).
e2e: $(LAB) $(SUITE)
	@$(SUITE) plan >/dev/null
	@$(LAB) with -- $(WALK) --keep $(PARTLY)

# Where no registry answers, one on the loopback address stands in, with what the
# source build makes cut up as releases are: the registry mode is tried whole.
e2e-registry: $(LAB) $(SUITE) $(STANDIN)
	@LAB_IMAGES=registry $(STANDIN) -- $(LAB) with -- $(WALK) --keep $(PARTLY)

up: $(LAB)
	@exec $(LAB) up

steps: $(SUITE)
	@$(STANDS) $(WALK) $(PARTLY)

# Its own exit status says more than make's: 1 a step is not passed, 2 it could not look.
check: $(SUITE)
	@$(STANDS) $(SUITE) check

down: $(LAB)
	@exec $(LAB) down

# The suite as a program to carry into a lab's VM: static, with fixtures and specs.
dist:
	@for arch in amd64 arm64; do \
		echo " … compiling for $$arch"; \
		GOARCH=$$arch GOOS=linux $(GO) build -ldflags "$(STAMP)" -o $(DIST)/lab-e2e-linux-$$arch ./e2e/cmd/lab-e2e || exit 1; \
	done
	@cd $(DIST) && if command -v sha256sum >/dev/null; then sha256sum lab-e2e-linux-*; else shasum -a 256 lab-e2e-linux-*; fi >SHA256SUMS
	@LAB_DIST="$$PWD/$(DIST)" $(GO) test -count=1 -run '^TestDist$$' -v ./e2e/cmd/lab-e2e | sed -n 's/^ *dist_test.go:[0-9]*: / /p;/^FAIL/p'; exit $${PIPESTATUS[0]}

# Without SSH the program just built walks from here; .ci/gate says what it is told by.
gate: $(SUITE) $(if $(SSH),dist)
	@.ci/gate

# Both proven on a lab made for it: the program in a container with nothing else in
# it; the gate through a real SSH server on loopback.
dist-proof gate-proof: $(LAB) $(SUITE) dist
	@$(LAB) with -- .ci/$@

# Two labs of this checkout at the same time: neither meets the other.
two-labs: $(LAB) $(SUITE)
	@.ci/two-labs

hostile: $(LAB) $(SUITE)
	@.ci/hostile

# How often is looked at before anything is made.
counted: | named
	@case $$N in ''|0*|*[!0-9]*|?????*) printf 'N is %q; it can be a number from 1 to 9999: make repeat N=10\n' "$$N" >&2; exit 2 ;; esac
repeat: counted $(LAB) $(SUITE)
	@$(LAB) with -- $(SUITE) repeat -- "$$N"

summary: $(SUITE)
	@$(SUITE) summary

report-issue:
	@.ci/report-issue

# The lab from the registries, and no verdict but the one that was asked for.
night:
	@.ci/night

doctor: $(LAB)
	@exec $(LAB) doctor

images: $(LAB)
	@exec $(LAB) images

images-list: $(LAB)
	@exec $(LAB) images list

images-save images-load: $(LAB)
	@[ -n "$$FILE" ] || { echo "name the file: make $@ FILE=/path/to/images.tar" >&2; exit 2; }
	@exec $(LAB) images $(@:images-%=%) -- "$$FILE"

list: $(SUITE)
	@exec $(SUITE) list -- "$$LAB_STEP"

# Names of faults are looked at before a lab is made to break.
ifeq ($(RESTORE),1)
faults: $(SUITE)
	@$(STANDS) $(SUITE) faults --restore
else
faults: $(LAB) $(SUITE)
	@set -f; $(SUITE) faults --list -- $$FAULT >/dev/null
	@set -f; $(LAB) with -- $(SUITE) faults -- $$FAULT
endif

test:
	@$(GO) vet ./...
	@$(GO) test -parallel 8 ./...

# The workflows are held to GitHub's rules by actionlint, and to this project's by a
# test beside it. What other linters may be installed makes no difference.
lint:
	@$(GO) tool -modfile=.ci/lint/go.mod golangci-lint run
	@$(GO) tool -modfile=.ci/workflows/go.mod actionlint -shellcheck= -pyflakes=
	@$(GO) -C .ci/workflows test -count=1 ./...

build-everywhere:
	@.ci/build-everywhere

# Each line is printed by the command that was timed, in one run on one machine.
bench: $(LAB)
	@$(LAB) bench
	@TIMEFORMAT='%1R'; \
	e2e=$$( { time $(MAKE) --no-print-directory e2e >.lab/bench.txt 2>&1; } 2>&1 ) || { cat .lab/bench.txt; exit 1; }; \
	test=$$( { time $(MAKE) --no-print-directory test >.lab/bench.txt 2>&1; } 2>&1 ) || { cat .lab/bench.txt; exit 1; }; \
	printf '\nThe two commands, caches warm:\n  make e2e       %6s s  ' "$$e2e"; grep -m1 'steps took' "$${LAB_REPORTS:-.lab}/closing.txt"; \
	printf '  make test      %6s s\n' "$$test"

# The GPUs on a real kubelet; TestGPUsOnTheLab says what is proven.
gpus: $(LAB)
	@exec $(LAB) with -- $(GO) test -count=1 -run TestGPUsOnTheLab -v ./provision

# The recordings are built into the test program, so the messages about them are
# written by another run of it. Read what git diff shows of both.
record: $(LAB) $(SUITE)
	@LAB_REPORTS="$$PWD/.lab/record" LAB_WORKDIR="$$PWD/.lab/record/gsb-jobset" LAB_STEP= $(LAB) with -- $(WALK) $(PARTLY)
	@$(GO) test -count=1 ./e2e/steps -run '^TestRecord$$' -record "$$PWD/.lab/record"
	@$(GO) test -count=1 ./e2e/steps -update

# Two clusters of other makers: the kind program alone, and a control plane of
# plain processes, without kubeadm. See .ci/foreign/run.
foreign: foreign-kind foreign-plain

foreign-kind foreign-plain: foreign-%: $(LAB) $(SUITE)
	@$(GO) build -o .lab/bin/kind sigs.k8s.io/kind
	@exec env LAB_NAME=foreign-$* LAB_IMAGES=source $(LAB) beside .ci/foreign/run $*
