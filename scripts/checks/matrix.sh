#!/usr/bin/env bash
# Generates resources of every kind in a copy of the repository, checks and tests them, requests every list from the running
# service, and removes them again, which must restore every byte. Run it in the root of the repository.
# KEEP=1 leaves the copy.
set -euo pipefail
work=$(mktemp -d)
service= removal=
cleanup() {
  [ -z "$service$removal" ] || kill $service $removal 2>/dev/null || true
  if [ -n "${KEEP:-}" ]; then echo "matrix: the copy is $work/project"; else rm -rf "$work"; fi
}
trap cleanup EXIT
step() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "matrix: FAILED: $*"; exit 1; }; }

# PATH CALLER ARGUMENTS: the path of the list (- if there is none), who requests it, and the arguments of generate.
resources=$(cat <<'END'
/goals public goal title
/news public news title:string:required --no-owner
/blog-posts public blog-post title:string:required:search:sort body:text:search imageUrl:url
/hits public hit agent:string:filter state:enum(fresh,seen):default=fresh --methods list
- public signal level:int:required --methods create
- public leaflet pages:int --methods show
- public badge label:string:unique awarded:time:required:readonly --methods update
- public token-stub label --methods delete
/vaults master vault secret:string:required --master create,list,show,update,delete
/budgets admin budget amount:float:required:sort --admin create,list,show,update,delete
/cacti public cactus words:text:required --plural cacti --public create,list,show,update,delete
/reviews admin review stars:int:required:min=1:max=5:filter:sort text:text --user list,show --admin delete
/paintings public painting name:string:required photo:image:max=5MB scans:[]file:types=text/plain,application/pdf contract:file --changes
- public painting-scan sheet:image:types=image/webp --under painting
/rates public rate value:float:required:min=0.5 code:string:unique:required:min=3:max=3 --admin create,update --master delete
/everything-givens public everything-given a:string:required:unique:search:sort:filter:min=2:max=40 b:text:required:search:min=3:max=5000 c:int:required:unique:sort:filter:min=-5000:max=5000 d:float:required:sort:filter:min=-0.5:max=99.5 e:bool:required:sort:filter f:time:required:unique:sort:filter g:email:required:unique:search:sort:filter h:url:required:unique:search:sort:filter i:enum(low,middle,high):required:sort:filter j:ref(user):required:unique:sort:filter:onDelete=restrict k:[]string:required:min=2:max=5
/everything-opens public everything-open a:string:unique:search:sort:filter:min=2:max=40 b:text:search:min=3:max=5000 c:int:unique:sort:filter:min=-5000:max=5000 d:float:sort:filter:min=-0.5:max=99.5 e:bool:sort:filter f:time:unique:sort:filter g:email:unique:search:sort:filter h:url:unique:search:sort:filter i:enum(low,middle,high):sort:filter j:ref(article):unique:sort:filter k:[]string:min=2:max=5
/everything-presets public everything-preset a:string:default=ginseng b:text:default=root c:int:min=1:max=9:default=5 d:float:default=0.5 e:bool:default=true f:time:default=2026-01-02T15:04:05Z g:email:default=a@example.com h:url:default=https://example.com/a i:enum(low,high):default=high
/typed-givens public typed-given a:decimal:required:unique:sort:filter:min=-0.5:max=999999.25 b:date:required:unique:sort:filter c:uuid:required:unique:sort:filter d:json:required e:[]int:required:filter f:[]string:required:filter g:string:required:max=10000:sort:filter
/typed-opens public typed-open a:decimal:unique:sort:filter b:date:unique:sort:filter c:uuid:unique:sort:filter d:json e:[]int:filter:max=5 f:[]string:filter:min=2 g:string:max=10000:sort
/typed-presets public typed-preset a:decimal:default=12.5:sort:min=1:max=20 b:date:default=2026-02-03 c:uuid:default=123e4567-e89b-42d3-a456-426614174000:filter
/baskets admin basket code:string:unique:search:sort note:text:search serial:int:unique=global total:decimal:required:filter --own list,show
/memos admin memo code:string:required:unique post:ref(article):required:filter --own list,show --admin delete
/vouchers admin voucher code:string:required:unique=global spent:bool:readonly:default=false:filter row:int:readonly --create server --own list,show --admin delete --changes
/receipts public receipt text:string:required --create server --owner --admin update,delete --on-user-delete clear
- public entry title --methods create,show --own show
/records public record type func range map error len package select var nil key new string id2 query:text
/categories public category name:string:required:unique parent:ref(category):filter
/tickets public ticket code:string:required:unique:max=12:sort state:enum(open,closed):required:filter:sort post:ref(blog-post):required:filter seat:int:readonly:unique:sort condition:enum(new,used):readonly:default=new:filter usedAt:time:readonly
/landing-pages public landing-page name:string
/makers public maker name:string:required:unique --admin create,update,delete
/labels user label name:string:required --user create,list,show,update,delete
/hoards user hoard name:string:required:unique --own list,show
/coins user coin hoard:ref(hoard):required:filter others:[]ref(hoard):onDelete=clear --own list,show
/vistas public vista hoard:ref(hoard):required value:decimal
- user hoard-note text:string:required reply:ref(hoard-note):onDelete=clear --under hoard
/wares public ware name:string:required maker:ref(maker):required:filter spare:ref(maker):onDelete=cascade seller:ref(user):onDelete=clear code:ref(label):unique:onDelete=clear part:ref(ware):onDelete=clear state:enum(new,used):required marks:[]ref(label):filter:onDelete=clear parts:[]ref(maker):required:min=2:max=4 --user create --no-owner
/carts user cart note:string gift:ref(ware):onDelete=clear --user list,show
- user cart-line ware:ref(ware):required amount:int:required:min=1 price:decimal:readonly:default=0 --under cart
- admin budget-line budget:ref(budget):onDelete=cascade text:string --under budget
- public delivery cart:ref(cart-line):required state:enum(sent,received) --admin create --methods create,delete
/appointments admin appointment starts:time:required:sort note:text:search --role reception=create,update --role practitioner=list,show,update --admin delete
- admin visit-note text:string:required --under appointment --role practitioner=create,update,delete
- admin visit-line text:string:required --under appointment
/invoices admin invoice appointment:ref(appointment):required amount:decimal:filter --role practitioner=create,list,show --role reception=list --admin update,delete
/desks public desk label:string:unique --role reception=create --user update,delete
/notices public notice title:string:required:search:sort --own organization --public list,show --role org:owner=create,update
/events user event title:string:required:search:sort code:string:unique badge:string:unique=global cover:image related:ref(event):onDelete=clear --own organization --role org:admin=delete --changes
- user talk name:string:required --under event
/rehearsals user rehearsal event:ref(event):required:filter talk:ref(talk):required:unique speakers:[]ref(talk):required:min=2 --own organization
/quotes public quote title:string:search:sort subtitle:string:search body:text:search mail:email:search link:url:search
END
)
# The paths whose documented responses are tested: these tests start the service several times for each.
sample='everything-givens|typed-opens|hits|vaults|reviews|baskets|tickets|hoards|wares|carts|deliveries'

step 'copy the repository'
mkdir "$work/project"
git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -xf - -C "$work/project"
cd "$work/project"
git init -q && git add -A && git -c user.name=matrix -c user.email=matrix@example.com commit -qm start
directories=$(find . -type d -not -path './.git/*' | sort)
export GOFLAGS="${GOFLAGS:-} -trimpath" # one build cache for every copy
quiet go build -o "$work/generate" ./scripts/generate

step 'declare roles'
quiet "$work/generate" user --roles practitioner,reception
git -c user.name=matrix -c user.email=matrix@example.com commit -qam roles

step 'generate'
# Without main.go the documents stay as they are, so that only the last command compiles the service to generate them.
mv main.go "$work/main.go"
left=$(wc -l <<<"$resources")
while read -r _ _ arguments; do
  [ $((left--)) -gt 1 ] || mv "$work/main.go" .
  set -f # no file names for k:[]string
  quiet "$work/generate" $arguments
  set +f
done <<<"$resources"
names=$(cut -d ' ' -f 3 <<<"$resources")
cp -R "$work/project" "$work/removed"
# remove removes the resources from this copy, in the reverse order.
remove() {
  local name
  cd "$work/removed"
  if "$work/generate" --undo maker 2>"$work/undo" || ! grep -q 'ware refers to it' "$work/undo"; then
    echo "matrix: maker was removed, or the error does not name ware: $(cat "$work/undo")"
    exit 1
  fi
  mv main.go "$work/removed.go"
  for name in $(tac <<<"$names"); do
    [ "$name" != "$(head -n 1 <<<"$names")" ] || mv "$work/removed.go" main.go
    "$work/generate" --undo "$name" >"$work/undo" 2>&1 || { cat "$work/undo"; echo "matrix: FAILED: --undo $name"; exit 1; }
  done
  test -z "$(git status --porcelain --ignored)" || { git status --short --ignored; git diff | head -n 40; exit 1; }
  diff <(echo "$directories") <(find . -type d -not -path './.git/*' | sort)
}
step 'remove everything, beside the next steps'
remove >"$work/removal" 2>&1 &
removal=$!
step 'format, vet, staticcheck'
test -z "$(gofmt -l .)" || { gofmt -d . | head -n 40; exit 1; }
quiet go vet . ./modules/... # lint checks the rest, which is the same
quiet go tool -modfile="$work/project/scripts/tools/go.mod" staticcheck ./modules/...
step 'documentation is up to date'
quiet make client # which generate does not write
quiet make docs-check
step 'tests'
quiet go test -vet=off .
# One program tests all resources, because each program links the service. vet has compiled the tests of each module.
for name in $names; do
  sed -E "s/^package .*/package modules_test/; s/\bnew[A-Z]\w*/&_${name//-/_}/g" "modules/$name/fixtures_test.go" >"modules/generated-${name}_test.go"
done
cat >modules/generated_test.go <<END
package modules_test

import (
	"testing"

	"example.com/ginseng/testkit"
)

func TestGenerated(t *testing.T) {
	for name, r := range map[string]testkit.Resource{
$(for name in $names; do echo "\"$name\": newResource_${name//-/_}(),"; done)
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.Run(t)
		})
	}
}
END
quiet go test -vet=off -timeout 30m -run "TestGenerated|Test/_/^($sample)\$" ./modules
rm modules/generated*_test.go

step 'serve, and request every list'
key=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
quiet go build -o "$work/service" .
(cd "$work" && exec env PORT=0 HOST=127.0.0.1 MASTER_KEY="$key" JWT_SECRET="x$key" DATABASE_URL="sqlite:$work/matrix.db" ./service >address 2>errors) &
service=$!
until grep -qs http:// "$work/address"; do kill -0 $service || { cat "$work/errors"; exit 1; }; sleep 0.1; done
base=$(grep -o -m 1 'http://[^, ]*' "$work/address")
call() { curl --silent --show-error --fail-with-body --max-time 30 "$@"; }
call -d "email=a@example.com&password=analytical+engine&role=admin&access_token=$key" "$base/users" >/dev/null
token=$(call -u 'a@example.com:analytical engine' -d "access_token=$key" "$base/auth" | grep -o '"token":"[^"]*' | cut -d '"' -f 4)
while read -r path caller _; do
  case $caller in master) header="Authorization: Bearer $key" ;; admin | user) header="Authorization: Bearer $token" ;; *) header=X-Public:true ;; esac
  if [ "$path" = - ]; then continue; fi
  page=$(call -H "$header" "$base$path")
  case $page in *'"count":0'*'"rows":[]'* | *'"rows":[]'*'"count":0'*) ;; *) echo "matrix: GET $path: $page"; exit 1 ;; esac
done <<<"$resources"

step 'call the tools for agents'
tool() { # NAME ARGUMENTS; prints the text of the result
  local result
  result=$(call -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$base/mcp" \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":$2}}")
  case $result in *'"isError":true'*) echo "matrix: $1 $2: $result" >&2; exit 1 ;; esac
  printf '%s' "$result"
}
for path in $(awk '/^\// && $2 != "master" { print $1 }' <<<"$resources") /hoard-notes /cart-lines /budget-lines /visit-notes /visit-lines /talks; do
  tool describe_resource "{\"resource\":\"${path#/}\"}" >/dev/null
done
hoard=$(tool create_record '{"resource":"hoards","data":{"name":"A"}}' | grep -o '\\"id\\":\\"[0-9a-f]*' | grep -o '[0-9a-f]*$')
tool create_record "{\"resource\":\"hoard-notes\",\"parent\":[\"$hoard\"],\"data\":{\"text\":\"T\"}}" >/dev/null
tool search_records "{\"resource\":\"hoard-notes\",\"parent\":[\"$hoard\"]}" | grep -q '\\"count\\":1'
kill $service && wait $service
service=

step 'wait for the removal'
removed=0
wait $removal || removed=$?
removal=
cat "$work/removal"
[ $removed -eq 0 ] || exit 1
echo "matrix: all checks passed in $SECONDS s"
