#!/usr/bin/env bash
# Makes the project of docs/modules.md and docs/receive-webhooks.md: generated resources, edits of generated files (*.patch, one
# per section of the guide), and files of the project's own (_files).
#
# Usage: make.sh DIRECTORY
set -euo pipefail
example=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { echo "usage: $0 DIRECTORY" >&2; exit 2; }

mkdir -p "$1"
project=$(cd "$1" && pwd)
go -C "$example/../../.." run ./scripts/new clinic --with user,password-reset,email-verification,webhook --dir "$project"
cd "$project"
commit() { git add . && git -c user.name=you -c user.email=you@example.com commit --quiet -m "$1"; }
git init --quiet
commit 'Begin'

go tool generate user --roles reception
go tool generate practitioner name:string:required:search:sort --admin create,update,delete --doc 'Practitioners of the clinic.'
go tool generate appointment 'practitioner:ref(practitioner):required:filter' startsAt:time:required:sort:filter \
  minutes:int:required:min=5:max=480 insurance:string:max=40 --methods create,list,show,delete --own list,show --admin delete --changes \
  --doc 'Appointments of patients. To move one, cancel it and create another.'
go tool generate invoice amount:decimal:required:min=0 --under appointment --admin create,update,delete --doc 'Invoices of appointments.'
go tool generate absence startsAt:time:required endsAt:time:required --under practitioner --admin create,update,delete \
  --doc 'Times when a practitioner is absent.'
commit 'Add resources'

git apply "$example"/[1-9]-*.patch "$example"/[1-9][0-9]-*.patch
cp -R "$example/_files/." .
go tool docs
commit 'Add rules'
