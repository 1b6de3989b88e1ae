#!/usr/bin/env bash
# Makes the project of make.sh, and runs its tests on the embedded database.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$example/make.sh" "$dir/tickets"
cd "$dir/tickets"
unformatted=$(gofmt -l modules)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; exit 1; }
go vet ./modules/event ./modules/payment ./modules/ticket
go test -count=1 ./modules/event ./modules/payment ./modules/ticket
