#!/usr/bin/env bash
# Builds the image and tests it as the guide for operators runs it: read-only root file system, no capabilities, data in a
# volume. Removes everything that it created. Run it in the root of the repository; DOCKER names another Docker client.
# ONE_IMAGE=1 leaves out the builds that show that the image is reproducible and can be built for ARM.
set -euo pipefail
docker=${DOCKER:-docker}
export DOCKER_BUILDKIT=1
name=ginseng-test-$RANDOM$RANDOM
image=$name:test version=v0.0.0-test revision=0123456789abcdef
canary=CANARY$RANDOM$RANDOM$RANDOM # a secret that must not be in an image
master_key=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
work=$(mktemp -d) compose=()
cleanup() {
  code=$?
  set +e
  if [ $code -ne 0 ]; then "$docker" logs "$name" 2>&1 | tail -n 30; echo "container: FAILED: $current"; fi
  [ ${#compose[@]} -eq 0 ] || "${compose[@]}" down --volumes >/dev/null 2>&1
  "$docker" rm --force --volumes "$name" >/dev/null 2>&1
  "$docker" volume rm "$name" >/dev/null 2>&1
  "$docker" image rm --force $("$docker" image ls --quiet "$name") >/dev/null 2>&1
  rm -rf "$work"
}
trap cleanup EXIT
step() { current=$1; printf '%4d s  %s\n' "$SECONDS" "$1"; }
fail() { echo "container: $current: $*" >&2; exit 1; }
equal() { [ "$1" = "$2" ] || fail "got '$1', want '$2'"; }
inspect() { "$docker" inspect --format "$1" "$2"; }
build() { # DIRECTORY TAG [FLAG…]
  "$docker" build --quiet --build-arg VERSION=$version --build-arg REVISION=$revision --tag "$name:$2" "${@:3}" "$work/$1" >/dev/null
}
healthy() { # CONTAINER: waits for the image's own health check, and sets base to the address
  local state='running starting'
  while [ "$state" = 'running starting' ]; do # until the image's limit of retries
    sleep 0.5
    state=$(inspect '{{.State.Status}} {{.State.Health.Status}}' "$1")
  done
  equal "$state" 'running healthy'
  base=http://$("$docker" port "$1" 9000/tcp | head -n 1)
}
run() { # IMAGE
  "$docker" run --detach --name "$name" --read-only --cap-drop ALL --security-opt no-new-privileges --volume "$name:/data" \
    --publish 127.0.0.1::9000 --env MASTER_KEY="$master_key" --env JWT_SECRET="x$master_key" --env DATABASE_URL=sqlite:/data/test.db "$1" >/dev/null
  healthy "$name"
}
call() { curl --silent --show-error --fail-with-body --max-time 30 "$@"; }
field() { grep -o "\"$1\":\"[^\"]*\"" | cut -d '"' -f 4; } # values of a JSON field
titles() { call "$base/articles?q=ginseng&sort=-createdAt" | field title | paste -s -d ,; }
use() { # sign-up, sign-in, create, list
  call -d "access_token=$master_key&email=ada@example.com&password=analytical+engine" "$base/users" >/dev/null
  token=$(call -u 'ada@example.com:analytical engine' -d "access_token=$master_key" "$base/auth" | field token)
  call -d "access_token=$token&title=On+ginseng" "$base/articles" >/dev/null
  equal "$(titles)" 'On ginseng'
}

step 'build the image, with decoys next to the source'
mkdir -p "$work/a" "$work/some/other"
git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -xf - -C "$work/a"
cp -r "$work/a" "$work/some/other/directory"
find "$work/some" -exec touch -d 2001-02-03T04:05:06 {} +
for decoy in .env production.env .git/config data/ginseng.db backups/today.db config/.env config/production.env kit/.git/HEAD modules/.env.local \
  modules/user/ginseng.db modules/user/ginseng.db-wal docs/notes_test.go; do
  mkdir -p "$work/a/$(dirname "$decoy")" && echo "SECRET=$canary" >"$work/a/$decoy"
done
build a test

step 'user, volume, port, environment, labels, size, version'
equal "$(inspect '{{.Config.User}} {{json .Config.Volumes}} {{json .Config.ExposedPorts}}' "$image")" '65532:65532 {"/data":{}} {"9000/tcp":{}}'
inspect '{{.Config.Env}}' "$image" | grep -q 'APP_ENV=production' || fail "environment: $(inspect '{{.Config.Env}}' "$image")"
labels='{{with .Config.Labels}}{{index . "org.opencontainers.image.version"}} {{index . "org.opencontainers.image.revision"}}{{end}}'
equal "$(inspect "$labels" "$image")" "$version $revision"
size=$(inspect '{{.Size}}' "$image")
echo "        $((size / 1000000)) MB"
[ "$size" -le 50000000 ] || fail 'larger than 50 MB'
equal "$("$docker" run --rm "$image" version)" "ginseng $version"

step 'files in the layers, no decoy in any layer or in the build stage'
mkdir "$work/saved" "$work/root" && "$docker" save "$image" | tar -xf - -C "$work/saved"
find "$work/saved" -type f -exec sh -c 'tar -tf "$1" >/dev/null 2>&1 && tar -xf "$1" -C "$2"' - {} "$work/root" \; # layers
equal "$(cd "$work/root" && find . ! -type d | sort | paste -s -d ' ')" './etc/passwd ./etc/ssl/certs/ca-certificates.crt ./usr/local/bin/ginseng'
grep -rq "$version" "$work/saved" "$work/root" || fail 'cannot find even the version'
! grep -rq "$canary" "$work/saved" "$work/root" || fail 'a layer contains a decoy'
build a builder --target build
equal "$("$docker" run --rm --network none "$name:builder" sh -c "grep -rl -e $canary -e '^go 1' .")" ./go.mod

if [ -z "${ONE_IMAGE:-}" ]; then
  step 'another build in another directory gives the same binary'
  if [ "$(go env GOVERSION)" = "$("$docker" run --rm "$name:builder" go env GOVERSION)" ]; then # with another build cache
    make -s -C "$work/some/other/directory" build VERSION=$version
  else
    build some/other/directory again --no-cache
    "$docker" run --rm --entrypoint cat "$name:again" /src/ginseng >"$work/some/other/directory/ginseng"
  fi
  equal "$(sha256sum <"$work/some/other/directory/ginseng")" "$(sha256sum <"$work/root/usr/local/bin/ginseng")"

  step 'build for arm64'
  build a arm64 --platform linux/arm64
  equal "$(inspect '{{.Os}}/{{.Architecture}}' "$name:arm64")" linux/arm64
  "$docker" create --name "$name" --platform linux/arm64 "$name:arm64" >/dev/null
  "$docker" cp "$name:/usr/local/bin/ginseng" "$work/arm64" && "$docker" rm "$name" >/dev/null
  equal "$(od -An -j18 -N2 -tx1 "$work/arm64")" ' b7 00' # e_machine: AArch64
fi

step 'start without settings fails and names them'
"$docker" run --rm "$image" >"$work/log" 2>&1 && code=0 || code=$?
equal $code 78
for setting in MASTER_KEY JWT_SECRET DATABASE_URL; do grep -q $setting "$work/log" || fail "$setting is not named"; done

step 'start, healthy, idle memory'
run "$image"
memory=$("$docker" stats --no-stream --format '{{.MemUsage}}' "$name")
echo "        $memory"
case $memory in [0-9].*MiB* | [1-5][0-9].*MiB* | [0-9]MiB* | [1-5][0-9]MiB*) ;; *) fail "idle memory is not below 60 MiB: $memory" ;; esac
use

step 'SIGTERM during a POST: response 201, exit code 0'
body="access_token=$token&title=On+ginseng,+late"
exec 3<>"/dev/tcp/127.0.0.1/${base##*:}"
printf 'POST /articles HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s' \
  ${#body} "${body:0:10}" >&3
"$docker" stop "$name" >/dev/null & stopping=$! # kills it after ten seconds
while curl --silent --output /dev/null --max-time 5 "$base/livez"; do sleep 0.1; done # until it accepts no connections
printf %s "${body:10}" >&3
IFS=' ' read -r _ status _ <&3
exec 3>&- && wait $stopping
equal "$status $(inspect '{{.State.ExitCode}}' "$name")" '201 0'

step 'data and sessions survive a restart'
"$docker" start "$name" >/dev/null && healthy "$name"
equal "$(titles)" 'On ginseng, late,On ginseng'
equal "$(call -H "Authorization: Bearer $token" "$base/users/me" | field email)" ada@example.com

step 'Docker Compose with the embedded database'
printf 'MASTER_KEY=%s\nJWT_SECRET=x%s\n' "$master_key" "$master_key" >"$work/a/production.env"
if "$docker" compose version >/dev/null 2>&1; then compose=("$docker" compose); else
  compose=(docker-compose)
  sed -i '/^name: /d' "$work/a/deploy/compose/embedded.yaml" # version 1 does not know it
fi
compose+=(--project-name "$name" --env-file "$work/a/production.env" --file "$work/a/deploy/compose/embedded.yaml")
export IMAGE=$image PUBLISH=127.0.0.1:0
"${compose[@]}" up --detach --no-build >/dev/null 2>&1
healthy "$("${compose[@]}" ps --quiet service)"
use

step 'a generated project: image, sign-up, article'
"$docker" rm --force --volumes "$name" >/dev/null && "$docker" volume rm "$name" >/dev/null
go run ./scripts/new shop --dir "$work/shop" >/dev/null
mkdir "$work/shop/backups"
for decoy in .env production.env backups/today.db shop.db; do echo "SECRET=$canary" >"$work/shop/$decoy"; done
build shop shop-builder --target build
equal "$("$docker" run --rm --network none "$name:shop-builder" sh -c "grep -rl -e $canary -e '^module example.com/shop' .")" ./go.mod
build shop shop
run "$name:shop"
use
echo "container: all checks passed in $SECONDS s"
