#!/usr/bin/env bash
# Makes the project of docs/modules.md in both forms, and runs the tests of its rules on the embedded database and on FerretDB,
# which has no transactions.
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$example/make.sh" "$dir/clinic"
cd "$dir/clinic"
unformatted=$(gofmt -l modules scripts ./*.go)
[ -z "$unformatted" ] || { echo "gofmt would change: $unformatted" >&2; exit 1; }
go vet ./modules/... ./scripts/... .
go tool staticcheck ./modules/absence ./modules/appointment ./modules/invoice ./scripts/report .
go test -count=1 ./modules/absence ./modules/appointment ./modules/invoice ./scripts/report .

"$example/without-transactions.sh" .
go vet ./modules/appointment
mkdir "$dir/programs"
go test -c -o "$dir/programs/" ./modules/appointment ./modules/invoice ./scripts/report . # each is linked once
run='for package in modules/appointment modules/invoice scripts/report .; do (cd $package && "$0/$(basename "$PWD").test" -test.timeout 10m) || exit; done'
sh -c "$run" "$dir/programs"
go -C "$example/../../../scripts/mongod" run . -- sh -c "$run" "$dir/programs"
