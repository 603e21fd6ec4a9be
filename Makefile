# The JobSet lab's end-to-end suite. This header is the manual; `make` prints it.
#
#   make e2e      make the real lab, walk the eight steps, report, remove the lab
#   make test     everything that needs no cluster, in seconds
#
#   make up       make the lab and leave it standing (a lab that stands is mended)
#   make steps    walk the steps on the lab that stands; STEP=4 walks one of them
#   make down     remove the lab and everything made for it
#   make doctor   what this machine can and cannot do, and the mend
#   make list     the steps: number, name, title
#   make gpus     make a lab and prove its four GPUs on the real kubelet
#   make images   build what is not cached, and list what a lab is made of
#   make lint     the linters that hold what review need not
#   make foreign  walk on clusters that this project did not make, and prove that
#                 nothing is left in them
#   make bench    time the lab's coming up, our way against the plain way
#
#   KEEP=1                 leave the lab standing after make e2e, or after a failure;
#                          and leave in it what a walk made, which otherwise goes
#   FRESH=1                walk although a learner's JobSets are there: they are deleted,
#                          and the learner's files moved aside
#   STEP=4                 one step, by number or name, with what it needs
#   LAB_NAME=other         another lab beside this one
#   LAB_ENGINE=podman      that container engine and no other
#   LAB_KUBECONFIG=/path   walk on another lab that stands, whoever made it
#   LAB_IMAGE=name         an image that an air-gapped lab has, in place of the steps' own
#   LAB_WORKDIR=/path      the folder that stands for /root/gsb-jobset
#
# Needed: Go 1.26, make and, where no image registry answers, Debian 12 and root.
# What else is missing, `make e2e` installs and says so.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

LAB_NAME ?= gsb-jobset
LAB_KUBECONFIG ?= $(CURDIR)/.lab/$(LAB_NAME).kubeconfig
export LAB_NAME LAB_ENGINE LAB_WORKDIR LAB_IMAGE KEEP FRESH STEP

# One set of build flags, provision/source's too, so that the programs of the node
# and this suite share what is compiled. Building is what the first run waits for:
# without DWARF, which nobody reads here, and without inlining outside Go's own
# library it takes a third less, and nothing here computes enough to miss either.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false
export GOWORK := off
# The compiler's garbage collector need not run before memory is wanted: a sixth less again.
GO := GOGC=off GOMEMLIMIT=3GiB go

LAB := .lab/bin/lab
SUITE := .lab/bin/lab-e2e

.PHONY: help e2e test up steps down doctor images list gpus lint bench foreign

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

# The programs are built each time; Go's build cache makes that quick when nothing changed.
.PHONY: $(LAB) $(SUITE)
$(LAB):
	@[ -x $@ ] || echo " … compiling the lab program; minutes the first time, a second later on"
	@# What the images are built from is fetched meanwhile.
	@[ -x $@ ] || { go -C provision/source/programs mod download >/dev/null 2>&1 & }
	@$(GO) build -ldflags '-s -w' -o $@ ./provision/cmd/lab
$(SUITE):
	@[ -x $@ ] || echo " … compiling the suite"
	@$(GO) test -c -ldflags "$(STAMP)" -o $@ ./e2e
STAMP = -s -w -X gsb.test/jobset-e2e/e2e/lab.Commit=$(shell git describe --always --dirty --abbrev=40 --match= 2>/dev/null || echo unknown)

# The walk is one program, the compiled suite itself: one process gets one Ctrl-C,
# and its exit status is the verdict. 3 is a partial one, which says why and which
# make takes for good; a gate does not.
WALK = $(SUITE) run
PARTLY = || [ $$? -eq 3 ]

# What was asked for is looked at before a lab is made for it.
e2e: $(LAB) $(SUITE)
	@$(SUITE) list '$(STEP)' >/dev/null
	@$(LAB) with -- $(WALK) $(PARTLY)

up: $(LAB)
	@exec $(LAB) up

steps: $(SUITE)
	@LAB_KUBECONFIG='$(LAB_KUBECONFIG)' $(WALK) $(PARTLY)

down: $(LAB)
	@exec $(LAB) down

doctor: $(LAB)
	@exec $(LAB) doctor

images: $(LAB)
	@exec $(LAB) images

list: $(SUITE)
	@exec $(SUITE) list

test:
	@$(GO) vet ./...
	@$(GO) test ./...

lint:
	@$(GO) tool -modfile=.ci/lint/go.mod golangci-lint run

# Each line is printed by the command that was timed, in one run on one machine.
bench: $(LAB)
	@$(LAB) bench
	@TIMEFORMAT='%1R'; \
	e2e=$$( { time $(MAKE) --no-print-directory e2e >.lab/bench.txt 2>&1; } 2>&1 ) || { cat .lab/bench.txt; exit 1; }; \
	test=$$( { time $(MAKE) --no-print-directory test >.lab/bench.txt 2>&1; } 2>&1 ) || { cat .lab/bench.txt; exit 1; }; \
	printf '\nThe two commands, caches warm:\n  make e2e       %6s s  ' "$$e2e"; grep -m1 'steps took' .lab/closing.txt; \
	printf '  make test      %6s s\n' "$$test"

# The GPUs on a real kubelet; TestGPUsOnTheLab says what is proven.
gpus: $(LAB)
	@exec $(LAB) with -- go test -count=1 -run TestGPUsOnTheLab -v ./provision

# Two clusters of other makers: the kind program alone, and a control plane of
# plain processes, without kubeadm. See .ci/foreign/run.
foreign: foreign-kind foreign-plain

foreign-%: $(LAB) $(SUITE)
	@go build -o .lab/bin/kind sigs.k8s.io/kind
	@exec env LAB_NAME=foreign-$* $(LAB) beside .ci/foreign/run $*
