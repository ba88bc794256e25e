PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
SDK    := .venv-sdk
STATE  ?= .localcluster
# Stack tests wait more than they work; a file stays with one worker.
PARALLEL ?= -n 3 --dist loadfile

export KUEUE_FRAMEWORKS KUEUE_MANAGE_ALL

.DEFAULT_GOAL := help
.PHONY: help setup sdk demo up down status test test-fast test-stack check fmt lock certs manifests reference docs docs-serve sbom timeline bench bench-latency bench-paired bench-create bench-quota bench-growth bench-page

help: ## Show the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1|/' | column -t -s '|'

setup: $(STAMP) ## Make .venv from the hashed requirements files

$(STAMP): requirements/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kueue-steps needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(SDK)/.installed: requirements/sdk.txt | $(STAMP)
	$(PYTHON) -m venv $(SDK)
	$(SDK)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/sdk.txt
	touch $@

sdk: $(SDK)/.installed ## Make .venv-sdk, the Kubeflow SDK in an environment of its own

demo: setup ## See Kueue admit a TrainJob step by step, beside whole (REPORT=FILE for JSON, KEEP=1 to go on)
	$(BIN)/python -m localcluster demo $(if $(REPORT),--report $(REPORT)) $(if $(KEEP),--keep)

up: setup ## Start the control plane with the webhook (KUEUE_FRAMEWORKS=batch/job, KUEUE_MANAGE_ALL=1)
	$(BIN)/python -m localcluster --state $(STATE) up

down: setup ## End the control plane that `up` started
	$(BIN)/python -m localcluster --state $(STATE) down

status: setup ## Show the processes of the control plane
	$(BIN)/python -m localcluster --state $(STATE) status

test: setup sdk ## Run every test: rules, edge, manifests and the stack tests on the real control plane
	$(BIN)/python -m pytest $(PARALLEL)

test-fast: setup ## Run the tests that need nothing built from Go
	$(BIN)/python -m pytest -m "not stack and not tools"

test-stack: setup sdk ## Run the tests on the real control plane
	$(BIN)/python -m pytest -m stack $(PARALLEL)

check: setup ## Check style, types, layers and the documentation; changes nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MKDOCS) build --strict

fmt: setup ## Format, and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: setup ## Pin the newest versions in requirements/*.txt
	$(BIN)/uv pip compile $(UV_FLAGS) pyproject.toml -o requirements/runtime.txt
	$(BIN)/uv pip compile $(UV_FLAGS) pyproject.toml --group dev -o requirements/dev.txt
	$(BIN)/uv pip compile $(UV_FLAGS) --group sdk -o requirements/sdk.txt

UV_FLAGS := --quiet --universal --upgrade --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

timeline: setup ## Play the demo, keep its record and draw it for README and docs (FROM=FILE draws a record only)
	$(BIN)/python -m bench.timeline $(if $(FROM),--from $(FROM))

bench: setup ## All four, under 40 minutes on an idle machine: records in bench/results, then docs/benchmarks.md
	$(MAKE) bench-latency ARGS="--repeats 2"
	$(MAKE) bench-create ARGS="--repeats 2"
	$(MAKE) bench-quota
	$(MAKE) bench-growth ARGS="--minutes 4"
	$(MAKE) bench-page

bench-latency: setup ## Measure reviews/s and latency beside Kueue's own webhook, 9 minutes (QUICK=1 for a look)
	$(BIN)/python -m bench.latency $(if $(QUICK),--quick --to dist) $(ARGS)

bench-paired: setup ## Measure our server beside that of another revision, 2 minutes (BASE=REVISION); record and page go to dist
	rm -rf dist/base && git worktree prune && git worktree add --detach dist/base $(BASE)
	$(BIN)/python -m bench.latency.paired dist/base --base $$(git rev-parse --short $(or $(BASE),HEAD)) --to dist $(ARGS); status=$$?; git worktree remove --force dist/base; exit $$status

bench-create: setup ## Measure creates and updates with and without our registration, 6 minutes (QUICK=1 for a look)
	$(BIN)/python -m bench.create $(if $(QUICK),--quick --to dist) $(ARGS)

bench-growth: setup ## Measure 10 and 100 TrainJobs, whole and stepped, 5 minutes (QUICK=1; 1,000 with ARGS="--minutes 0", 35 minutes; 10,000 with LARGE=1)
	$(BIN)/python -m bench.growth $(if $(QUICK),--quick --to dist) $(if $(LARGE),--large) $(ARGS)

bench-quota: setup ## Measure what GPUs wait for, whole and stepped, at three loads, 23 minutes (QUICK=1 for a look)
	$(BIN)/python -m bench.quota $(if $(QUICK),--quick --to dist) $(ARGS)

bench-page: setup ## Write docs/benchmarks.md from the records in bench/results
	$(BIN)/python -m bench.overview

manifests: setup ## Write install.yaml and what of the chart follows from settings and manifests/base
	$(BIN)/python -m manifests.generate

reference: setup ## Write the pages of docs/reference that follow from code
	$(BIN)/python -m docsite.reference

# The variable silences what the theme says of its successor at every build.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs

docs: setup ## Build the documentation into site/; a dead link or a page outside the navigation fails
	$(MKDOCS) build --strict

docs-serve: setup ## Show the documentation on localhost:8000, as it is written
	$(MKDOCS) serve

certs: setup ## Mint a development CA and serving pair into certs/
	$(BIN)/python -m webhook.pki --out certs

sbom: setup ## Write dist/kueue-steps.cdx.json, the bill of materials of what the server runs with
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements --pyproject pyproject.toml --output-reproducible \
		--output-file dist/kueue-steps.cdx.json requirements/runtime.txt
