# Commands for development and release. `make help` lists them.

# The tags leave out code that the service does not use: MessagePack in Gin, and validation by methods named in tags. All
# commands below have the same ones, so that they share the build cache.
export GOFLAGS := $(shell go env GOFLAGS) -tags=nomsgpack,validator_novalidatefn
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
TOOL := env -u GOOS -u GOARCH go tool -modfile="$(CURDIR)/scripts/tools/go.mod"
SHORT := -short
FUZZTIME := 5s
# A server for a command, and the tests of modules that use it: one for the main task of each module that stores something.
MONGOD := $(if $(TEST_MONGODB_URI),,go -C scripts/mongod run . --)
MAIN_TASKS := Test(Article|Change|Create|Events|Identities|Policy|Sequence|ShowAndComplete|SignIn|Users)
ARTICLES := 100000
PLATFORMS := linux/amd64 linux/arm64 darwin/arm64
DOCKER := docker

.PHONY: help run dev build prod test test-all test-integration coverage fuzz project resource bench soak lint deadcode docs docs-check client sbom release vulncheck vulndb

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

run: ## serve in development mode
	go run .

dev: ## serve in development mode, and restart when the source changes
	$(TOOL) air

build: ## build the static binary ./ginseng
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$(VERSION)" -o ginseng .

prod: build ## build, and serve in production mode
	APP_ENV=production ./ginseng

test: ## run the tests, without the long ones; the slowest package first
	go test $(SHORT) -vet=off -timeout 20m ./scripts/new ./...

test-all: SHORT :=
test-all: test ## run the tests, with the long ones

test-integration: ## run the tests that depend on the engine on MongoDB: at TEST_MONGODB_URI, or a compatible server that this starts
	$(MONGOD) go test -vet=off -timeout 20m ./internal/resilience
	$(MONGOD) go test -vet=off -timeout 20m ./internal/service ./kit/store/mongo ./kit/store/storetest ./kit/store/transfer \
		./kit/batch ./kit/migrate ./kit/once ./kit/records ./kit/resource
	$(MONGOD) go test -vet=off -timeout 20m -run '^$(MAIN_TASKS)$$' \
		$$(grep -lE '^func $(MAIN_TASKS)\(' modules/*/*_test.go | xargs -n 1 dirname | sort -u | sed 's|^|./|')

coverage: ## write a coverage report to coverage.html
	go test -coverpkg=.,./config/...,./kit/...,./middleware/...,./modules/...,./server/...,./testkit/... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -n 1

fuzz: ## run every fuzz test for FUZZTIME (5s)
	@grep -rE '^func Fuzz' --include='*_test.go' kit middleware modules server | sed -E 's|(.*)/[^/]*:func (Fuzz[A-Za-z]*).*|\1 \2|' | \
		while read -r dir target; do echo "fuzz $$dir $$target"; \
			go test -vet=off -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "./$$dir" || exit 1; done

project: ## create a project next to this directory; compiles first: make project NAME=shop
	go run ./scripts/new $(NAME) --dir ../$(NAME)

resource: ## add a resource; compiles first: make resource NAME=blog-post FIELDS='title:string:required body:text'
	go run ./scripts/generate $(foreach word,$(NAME) $(FIELDS),'$(word)')

bench: ## compare the built service with ARTICLES (100000) articles, and draw docs/performance.svg
	go -C scripts/checks run ./bench --articles $(ARTICLES) --chart docs/performance.svg

soak: ## load the built service for ten minutes; fails if memory grows, a request fails or data is missing
	go -C scripts/checks run ./bench --minutes 10

lint: ## run gofmt, go vet and staticcheck in every module with code
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt would change:" $$files; exit 1; }
	@for dir in . scripts/checks scripts/mongod scripts/tools; do \
		echo "lint $$dir"; (cd $$dir && go vet ./... && $(TOOL) staticcheck ./...) || exit 1; done

deadcode: ## list functions that neither the programs nor the tests reach
	$(TOOL) deadcode -test ./...

docs: ## generate docs/ from annotations, settings and licenses, .env.example and the client
	$(TOOL) swag fmt --generalInfo main.go --dir . --exclude scripts,kit/selector
	go run ./scripts/docs
	scripts/tools/licenses list >docs/licenses.md.new && mv docs/licenses.md.new docs/licenses.md
	go run ./scripts/client --out clients/typescript
	cp clients/typescript/index.js kit/adminpage/page/client.js

docs-check: ## fail if a generated file in docs/ or clients/, or .env.example is out of date
	@go run ./scripts/docs -check
	@scripts/tools/licenses list | diff -u docs/licenses.md - || { echo "docs/licenses.md is out of date; run: make docs"; exit 1; }
	@go run ./scripts/client --out clients/typescript --check

client: ## write the TypeScript client of the API to clients/typescript, and its copy of the admin page
	go run ./scripts/client --out clients/typescript
	cp clients/typescript/index.js kit/adminpage/page/client.js

# The SBOM has the checksum of the tool that writes it, so the tool is built without paths.
sbom: build ## write dist/: an SBOM of ./ginseng (CycloneDX), and the license texts of its dependencies
	mkdir -p dist
	CGO_ENABLED=0 GOFLAGS="$(GOFLAGS) -trimpath" $(TOOL) cyclonedx-gomod bin -json -licenses -std -noserial -notimestamp -version "$(VERSION)" -output dist/sbom.cdx.json ginseng
	scripts/tools/licenses save dist/licenses

# The archives are equal wherever and whenever they are made from the same commit with the same version of Go. The images contain the
# same binaries, but have times.
release: ## write dist/ on Linux: archives of PLATFORMS with binary, SBOM and licenses, images if Docker runs, SHA256SUMS
	rm -rf dist
	@set -e; for platform in $(PLATFORMS); do \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/}; name=ginseng-$$GOOS-$$GOARCH; \
		$(MAKE) sbom; mv ginseng dist; \
		tar -czf dist/$$name.tar.gz --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
			LICENSE -C dist ginseng sbom.cdx.json licenses; \
		rm -rf dist/ginseng dist/sbom.cdx.json dist/licenses; \
		[ $$GOOS = linux ] || continue; \
		$(DOCKER) version >/dev/null 2>&1 || { echo '*** NO IMAGE: there is no Docker engine. ***'; continue; }; \
		$(DOCKER) build --platform $$platform --build-arg VERSION=$(VERSION) --build-arg REVISION="$$(git rev-parse HEAD)" -t ginseng:$(VERSION) .; \
		$(DOCKER) save ginseng:$(VERSION) >dist/$$name-image.tar; gzip -n dist/$$name-image.tar; \
	done
	cd dist && sha256sum *.tar.gz >SHA256SUMS

vulncheck: vulndb ## report known vulnerabilities that the code reaches; needs the network
	$(TOOL) govulncheck ./...

vulndb: # fails if the vulnerability database is unreachable
	@curl --silent --fail --max-time 20 --output /dev/null "$${GOVULNDB:-https://vuln.go.dev}/index/db.json" || \
		{ echo '*** NOT CHECKED: the vulnerability database is unreachable. ***'; exit 1; }
