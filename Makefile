# The two commands of the README are `make run` and `make check`.

GO ?= go
TASK ?= Which sorting algorithm should I use for nearly sorted data?

.PHONY: run build check fmt vet test race bench update

run: ## the offline demo
	$(GO) run ./cmd/conclave run "$(TASK)"

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o conclave ./cmd/conclave

check: fmt vet build test race ## everything that has to hold

fmt:
	@test -z "$$(gofmt -l cmd internal examples)" || { echo "gofmt would change:"; gofmt -l cmd internal examples; exit 1; }

vet:
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

test: ## in full volume
	$(GO) test ./...

race: ## a tenth of the volume, with the race detector
	$(GO) test -race ./...

bench: ## measures against floors and writes docs/benchmarks.md
	$(GO) run ./internal/bench > docs/benchmarks.md.new
	mv docs/benchmarks.md.new docs/benchmarks.md

update: ## rewrites golden files; read the diff
	$(GO) test ./internal/event ./internal/coord ./internal/view ./internal/prompt -update
