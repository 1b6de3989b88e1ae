#!/usr/bin/env bash
# Changes the project that make.sh has made to the form for servers without transactions: days.patch, and the files of _days.
#
# Usage: without-transactions.sh DIRECTORY
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 DIRECTORY" >&2; exit 2; }

cd "$1"
git apply "$example/days.patch"
cp -R "$example/_days/." .
go tool docs
git add . && git -c user.name=you -c user.email=you@example.com commit --quiet -m 'Work without transactions'
