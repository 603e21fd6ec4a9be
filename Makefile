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
#   make lint     the linters that hold what review need not
#   make bench    time the lab's coming up, our way against the plain way
#
#   KEEP=1                 leave the lab standing after make e2e, or after a failure
#   STEP=4                 one step, by number or name, with what it needs
#   LAB_NAME=other         another lab beside this one
#   LAB_ENGINE=podman      that container engine and no other
#   LAB_KUBECONFIG=/path   walk on another lab that stands, whoever made it
#   LAB_WORKDIR=/path      the folder that stands for /root/gsb-jobset
#
# Needed: Go 1.26, make and, where no image registry answers, Debian 12 and root.
# What else is missing, `make e2e` installs and says so.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

LAB_NAME ?= gsb-jobset
LAB_KUBECONFIG ?= $(CURDIR)/.lab/$(LAB_NAME).kubeconfig
export LAB_NAME LAB_ENGINE LAB_WORKDIR KEEP STEP

# One set of build flags, provision/source's too, so that the programs of the
# node and this suite share what is compiled. Nobody debugs them: no DWARF.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false -gcflags=all=-dwarf=false
export GOWORK := off
LAB := .lab/bin/lab
GINKGO := .lab/bin/ginkgo
SUITE := .lab/bin/e2e.test

.PHONY: help e2e test up steps down doctor images list lint bench

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

# The programs are built each time; Go's build cache makes that quick when nothing changed.
.PHONY: $(LAB) $(GINKGO) $(SUITE)
$(LAB):
	@go build -ldflags '-s -w' -o $@ ./provision/cmd/lab
$(GINKGO):
	@go build -ldflags '-s -w' -o $@ github.com/onsi/ginkgo/v2/ginkgo
$(SUITE):
	@go test -c -o $@ ./e2e

# What walks the steps. Ginkgo is told when to write a report; how to tell a
# failure is the suite's own matter.
WALK = $(GINKGO) run --silence-skips --no-color --grace-period=60s \
	--junit-report=junit.xml --json-report=specs.json --output-dir=.lab $(SUITE)

e2e: $(LAB) $(GINKGO) $(SUITE)
	@exec $(LAB) with -- $(WALK)

up: $(LAB)
	@exec $(LAB) up

steps: $(GINKGO) $(SUITE)
	@LAB_KUBECONFIG='$(LAB_KUBECONFIG)' exec $(WALK)

down: $(LAB)
	@exec $(LAB) down

doctor: $(LAB)
	@exec $(LAB) doctor

images: $(LAB)
	@exec $(LAB) images

list: $(SUITE)
	@exec $(SUITE) --list

test:
	@go vet ./...
	@go test ./fixtures/... ./provision/... ./e2e/lab/...

lint:
	@go tool -modfile=.ci/lint/go.mod golangci-lint run

bench: $(LAB)
	@exec $(LAB) bench
