# The two commands of the README are `make run` and `make check`.

GO ?= go
TASK ?= Which sorting algorithm should I use for nearly sorted data?

# What the tests use besides Go. Without one of them its tests are skipped, and
# fail where CI=true.
DEPS = bubblewrap busybox-static chromium docker.io git iptables postgresql ripgrep tmux $(if $(shell command -v npm),,nodejs npm)

.PHONY: run build check deps fmt vet test race fuzz bench update

run: ## the offline demo
	$(GO) run ./cmd/conclave run "$(TASK)"

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o conclave ./cmd/conclave

check: fmt vet build test race fuzz ## everything that has to hold

deps: ## installs what the tests use, on Debian and as root; else names it
	@missing=""; for p in $(DEPS); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; \
	done; \
	if test -z "$$missing"; then exit 0; fi; \
	if test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null; then echo "not installed:$$missing"; exit 0; fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get install -qq -y --no-install-recommends $$missing >/dev/null || \
	{ apt-get update -qq && apt-get install -qq -y --no-install-recommends $$missing >/dev/null; } || \
	echo "could not be installed:$$missing"
	@for d in internal/backend/cli/npm internal/mcpserve/testdata/npm internal/web/e2e/npm; do \
		$$d/install.sh >/dev/null || echo "could not be installed: the npm packages in $$d"; \
	done

fmt:
	@test -z "$$(gofmt -l cmd internal examples)" || { echo "gofmt would change:"; gofmt -l cmd internal examples; exit 1; }

vet:
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

test: ## in full volume
	$(GO) run ./internal/tools/suite -timeout=30m ./...

race: ## a tenth of the volume, with the race detector
	$(GO) run ./internal/tools/suite -race -timeout=30m ./...

# The corpora are part of `test`; this looks for what is not in them yet. FUZZTIME
# is a number of tries (200x) or a time (1m).
FUZZTIME ?= 200x

fuzz: ## every fuzz target for FUZZTIME
	@set -e; for file in $$(grep -rl --include='*_test.go' '^func Fuzz' cmd internal examples); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(f \*testing\.F).*/\1/p' $$file); do \
			echo "$$(dirname $$file) $$target"; \
			out=$$($(GO) test ./$$(dirname $$file) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x 2>&1) || { echo "$$out"; exit 1; }; \
		done; \
	done

bench: ## measures against floors and writes docs/benchmarks.md
	$(GO) run ./internal/bench > docs/benchmarks.md.new
	mv docs/benchmarks.md.new docs/benchmarks.md

update: ## rewrites golden files; read the diff
	$(GO) test ./internal/event ./internal/coord ./internal/view ./internal/prompt -update
	$(GO) test ./internal/tui -run 'TestGoldenScreens|TestPictures' -update
