#!/usr/bin/env bash
# Makes the project of "Records that only code creates" and "Who sees a record" in docs/modules.md: generated resources, edits of generated files
# (*.patch), and files of the project's own (_files).
#
# Usage: make.sh DIRECTORY
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 DIRECTORY" >&2; exit 2; }

mkdir -p "$1"
project=$(cd "$1" && pwd)
go -C "$example/../../.." run ./scripts/new tickets --with user,organization --dir "$project"
cd "$project"
commit() { git add . && git -c user.name=you -c user.email=you@example.com commit --quiet -m "$1"; }
git init --quiet
commit 'Begin'

go tool generate event title:string:required:search 'state:enum(published,draft):required:filter' --own organization --public list,show
go tool generate ticket 'event:ref(event):required:filter' 'state:enum(valid,used):readonly:default=valid:filter' \
  --create server --own list,show --admin update,delete
go tool generate payment 'event:ref(event):required' 'state:enum(open,paid):readonly:default=open:filter' \
  --methods create,list,show --own list,show
commit 'Add resources'

git apply "$example"/*.patch
cp -R "$example/_files/." .
go tool docs
commit 'Add the confirmation of payments, and drafts'
