# The end-to-end suite of the JobSet lab. `make help` prints these lines.
#
#   make e2e      make the lab, run the eight steps on it, report, remove the lab
#   make test     everything that needs no cluster
#
#   make up       make the lab and keep it; a lab that stands is checked and repaired
#   make steps    run the steps on the lab that stands
#   make check    grade a learner's work on the lab that stands; changes nothing
#   make down     remove the lab and everything that was made for it
#   make doctor   what this machine can and cannot do, and how to fix that
#
#   make list     the steps, what each asks for, and the mistakes that a run makes in it
#   make faults   make a lab, break it in every known way, require the right failure
#   make update   renew the recordings and golden files on the lab that stands
#   make images   pull or build what is not cached, and list what a lab is made of
#   make gate     the gate of a release: only PASSED is success; see .ci/gate
#   make dist     lab-e2e as one static program, for Linux on amd64 and arm64
#   make lint     the linters, for the code and the workflows
#
#   STEP=4                one step, by number or name, and the steps that it needs
#   KEEP=1                keep the lab, and the JobSets of the run
#   FRESH=1               run over a learner's work: the JobSets are deleted, the files moved aside
#   FAULT=quota-2         only this fault, or these
#   LAB_NAME=other        another lab, beside the first
#   LAB_KUBECONFIG=/path  a lab that something else made
#   LAB_ENGINE=podman     this container engine: podman or docker
#   LAB_IMAGES=registry   pull the images; source: build them; auto, the default: see provision/README.md
#
# The rarer variables: .lab/bin/lab --help, .lab/bin/lab-e2e run --help, the head of .ci/gate.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# What a user says is data: taken here as it was typed, and read by recipes and programs
# from the environment alone. (What was given on make's command line, make expands
# whenever it is looked at or exported, unless it was taken by $(value) before.)
GIVEN := LAB_NAME LAB_ENGINE LAB_IMAGES LAB_MIRROR LAB_KUBECONFIG LAB_IMAGE LAB_WORKDIR LAB_REPORTS \
	LAB_STEP LAB_KEEP LAB_FRESH STEP KEEP FRESH FAULT \
	SSH SSH_PORT SSH_KEY SSH_KNOWN_HOSTS KUBECONFIG_CONTENT WAIT RESTORE
$(foreach name,$(GIVEN),$(eval override $(name) := $$(value $(name))))
override LAB_NAME := $(or $(LAB_NAME),gsb-jobset)
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
TESTREGISTRY := .lab/bin/testregistry
DIST := .lab/dist

TARGETS := e2e test up steps check down doctor list faults update images gate dist lint
.PHONY: help env named standing bench $(TARGETS)

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

# Before all else, since files are named after the lab; the rule is provision's own.
$(TARGETS) $(LAB) $(SUITE) $(TESTREGISTRY): | named
named:
	@LC_ALL=C; [[ $$LAB_NAME =~ ^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$$ ]] || { \
		printf 'LAB_NAME is %q; a lab'"'"'s name is up to 40 small letters, digits and hyphens, such as gsb-jobset\n' "$$LAB_NAME" >&2; exit 2; }

# The settings of the builds, for go and ginkgo without make: eval "$(make env)".
env:
	@printf 'export CGO_ENABLED=%q GOWORK=%q GOFLAGS=%q\n' "$$CGO_ENABLED" "$$GOWORK" "$$GOFLAGS"

# The programs are built each time; Go's build cache makes that quick when nothing
# changed. Where there is flock, two makes of one checkout do not write one at once.
ALONE = mkdir -p $(@D) && $(if $(shell command -v flock),flock .lab/bin/.lock)
.PHONY: $(LAB) $(SUITE) $(TESTREGISTRY)
$(LAB):
	@[ -x $@ ] || echo " … compiling the lab program; minutes the first time, a second later on"
	@# What the images are built from is fetched meanwhile.
	@[ -x $@ ] || { go -C provision/source/programs mod download >/dev/null 2>&1 & }
	@$(ALONE) $(GO) build -ldflags '-s -w' -o $@ ./provision/cmd/lab
$(SUITE):
	@[ -x $@ ] || echo " … compiling the suite"
	@$(ALONE) $(GO) build -ldflags "$(STAMP)" -o $@ ./e2e/cmd/lab-e2e
$(TESTREGISTRY):
	@$(ALONE) $(GO) build -ldflags '-s -w' -o $@ ./provision/cmd/testregistry
STAMP = -s -w -X gsb.test/jobset-e2e/e2e/internal/report.Commit=$(shell git describe --always --dirty --abbrev=40 --match= 2>/dev/null || echo unknown)

# A run is one program: one process gets one Ctrl-C, and its exit status is the
# verdict. 3 is a partial one, which make takes for success; the gate does not.
RUN = $(SUITE) run
PARTLY = || [ $$? -eq 3 ]
STANDS = LAB_KUBECONFIG="$${LAB_KUBECONFIG:-$$PWD/.lab/$$LAB_NAME.kubeconfig}"

# What is asked for is checked before a lab is made for it. The lab is removed, so
# the run need not remove what it made in it (--keep).
e2e: $(LAB) $(SUITE)
	@$(SUITE) plan >/dev/null
	@$(LAB) with -- $(RUN) --keep $(PARTLY)

# With a kubeconfig, go test ./e2e runs the steps on its lab; here no lab is meant.
test:
	@$(GO) vet ./...
	@env -u LAB_KUBECONFIG $(GO) test -parallel 8 ./...

up down doctor images: $(LAB)
	@exec $(LAB) $@

steps: $(SUITE)
	@$(STANDS) $(RUN) $(PARTLY)

# Its own exit status says more than make's: 1 a step is not passed, 2 it could not look.
check: $(SUITE)
	@$(STANDS) $(SUITE) check

list: $(SUITE)
	@exec $(SUITE) list -- "$$LAB_STEP"

# Names of faults are checked before a lab is made to break. RESTORE=1 breaks nothing:
# it restores the lab that stands, in which a killed run left a fault.
ifeq ($(RESTORE),1)
faults: $(SUITE)
	@$(STANDS) $(SUITE) faults --restore
else
faults: $(LAB) $(SUITE)
	@set -f; $(SUITE) faults --list -- $$FAULT >/dev/null
	@set -f; $(LAB) with -- $(SUITE) faults -- $$FAULT
endif

# The recordings are of a run of all steps; the golden files come from the recordings,
# which are built into the test program, so another run of it writes them.
update: standing $(SUITE)
	@$(STANDS) LAB_REPORTS="$$PWD/.lab/update" LAB_WORKDIR="$$PWD/.lab/update/gsb-jobset" LAB_STEP= LAB_KEEP= $(RUN) $(PARTLY)
	@env -u LAB_KUBECONFIG $(GO) test -count=1 ./e2e/steps -run '^TestRecord$$' -record "$$PWD/.lab/update"
	@env -u LAB_KUBECONFIG $(GO) test -count=1 ./e2e/steps -update || { \
		echo 'The recordings are renewed. After a fix, without a lab: eval "$$(make env)"; go test ./e2e/steps -update' >&2; exit 1; }
	@echo "The recordings and golden files are renewed. Read what changed: git diff e2e"
standing: | named
	@[ -n "$$LAB_KUBECONFIG" ] || [ -e ".lab/$$LAB_NAME.kubeconfig" ] || { echo "No lab of the name $$LAB_NAME stands. To make it: make up" >&2; exit 2; }

# Without SSH the program just built runs here; .ci/gate says what it reads.
gate: $(SUITE) $(if $(SSH),dist)
	@.ci/gate

# Not in the manual: of use to who makes the suite faster. See the head of .ci/bench.
bench: | named
	@exec .ci/bench

dist:
	@for arch in amd64 arm64; do \
		echo " … compiling for $$arch"; \
		GOARCH=$$arch GOOS=linux $(GO) build -ldflags "$(STAMP)" -o $(DIST)/lab-e2e-linux-$$arch ./e2e/cmd/lab-e2e || exit 1; \
	done
	@cd $(DIST) && if command -v sha256sum >/dev/null; then sha256sum lab-e2e-linux-*; else shasum -a 256 lab-e2e-linux-*; fi >SHA256SUMS
	@LAB_DIST="$$PWD/$(DIST)" $(GO) test -count=1 -run '^TestDist$$' -v ./e2e/cmd/lab-e2e | sed -n 's/^ *dist_test.go:[0-9]*: / /p;/^FAIL/p'; exit $${PIPESTATUS[0]}

# The workflows are held to GitHub's rules by actionlint, and to this project's by a
# test beside it. What other linters may be installed makes no difference.
lint:
	@$(GO) tool -modfile=.ci/lint/go.mod golangci-lint run
	@.ci/sizes
	@$(GO) tool -modfile=.ci/workflows/go.mod actionlint -shellcheck= -pyflakes=
	@$(GO) -C .ci/workflows test -count=1 ./...
