# What one does with this project. Every command also runs without make: copy it from here or from README.md.

# What the service does not use is left out: a binding of Gin's, templates in mails, methods that a struct's tag names.
TAGS := nomsgpack,validator_novalidatefn
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
TOOL := go tool -modfile="$(CURDIR)/scripts/tools/go.mod"
# The modules that stand beside the service's own; tools has no code.
MODULES := $(filter-out scripts/tools,$(patsubst %/go.mod,%,$(wildcard scripts/*/go.mod)))

.PHONY: help dev build prod test test-unit test-integration coverage fuzz project resource bench soak lint docs docs-check sbom vulncheck

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

dev: ## serve in development mode, and restart when the source changes
	$(TOOL) air

build: ## build the static binary ./ginseng
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags $(TAGS) \
		-ldflags "-s -w -X main.version=$(VERSION)" -o ginseng .

prod: build ## build, and serve in production mode
	APP_ENV=production ./ginseng

test: ## run every test that needs nothing but Go
	go test ./...

test-unit: ## run the quick tests alone
	go test -short ./...

test-integration: ## run every test on MongoDB (a compatible server that this starts)
	go -C scripts/mongod run . -- go test ./...

coverage: ## measure what the tests reach; the report is coverage.html
	go test -coverpkg=.,./config/...,./kit/...,./middleware/...,./modules/... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -n 1

project: ## make a project of one's own beside this folder: make project NAME=shop
	go run ./scripts/new $(NAME) --dir ../$(NAME)

resource: ## add a resource: make resource NAME=blog-post FIELDS='title:string:required body:text'
	go run ./scripts/generate $(foreach word,$(NAME) $(FIELDS),'$(word)')

bench: ## load the built service with 1,000,000 articles, and draw docs/performance.svg
	go -C scripts/checks run ./bench --chart docs/performance.svg

soak: ## load the built service for ten minutes; fails if memory grows, a request fails or data is missing
	go -C scripts/checks run ./bench --minutes 10

FUZZTIME := 5s
fuzz: ## run every fuzz target for FUZZTIME (5s)
	@grep -rE '^func Fuzz' --include='*_test.go' kit middleware modules | sed -E 's|(.*)/[^/]*:func (Fuzz[A-Za-z]*).*|\1 \2|' | \
		while read -r dir target; do echo "fuzz $$dir $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "./$$dir" || exit 1; done

lint: ## check the format, go vet, staticcheck; in every module
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt would change:" $$files; exit 1; }
	@for dir in . $(MODULES); do \
		echo "lint $$dir"; (cd $$dir && go vet ./... && $(TOOL) staticcheck ./...) || exit 1; done

docs: ## generate docs/ from annotations, settings and licences, and .env.example
	$(TOOL) swag fmt --generalInfo main.go --dir . --exclude scripts,modules/policy/type
	go run ./scripts/docs
	scripts/tools/licenses list >docs/licenses.md

docs-check: ## fail if a generated file in docs/ or .env.example is out of date
	@go run ./scripts/docs -check
	@scripts/tools/licenses list | diff -u docs/licenses.md - || { echo "docs/licenses.md is out of date; run: make docs"; exit 1; }

sbom: build ## write dist/: an SBOM of ./ginseng (CycloneDX), and the license texts of its dependencies
	mkdir -p dist
	$(TOOL) cyclonedx-gomod bin -json -licenses -std -noserial -notimestamp -version "$(VERSION)" -output dist/sbom.cdx.json ginseng
	scripts/tools/licenses save dist/licenses

vulncheck: ## look for known vulnerabilities in what the code calls; needs the network
	$(TOOL) govulncheck -tags $(TAGS) ./...
