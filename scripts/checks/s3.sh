#!/usr/bin/env bash
# Runs the tests of kit/files/s3, and kills instances of a service with a bucket, against a server that verifies signatures: versitygw,
# with its data in a temporary directory. Run it in the root of the repository. To test another server, set TEST_S3_URL and the keys for go test instead, see TestServer.
set -euo pipefail
work=$(mktemp -d) server=''
stop() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=''; fi
}
trap 'stop; rm -rf "$work"' EXIT
export S3_ACCESS_KEY_ID=testkey S3_SECRET_ACCESS_KEY=test/secret+key
go build -C scripts/s3 -o "$work/versitygw" github.com/versity/versitygw/cmd/versitygw
mkdir -p "$work/data/bucket" "$work/meta"
for _ in 1 2 3 4 5; do # until a port is free
  port=$((RANDOM % 20000 + 20000))
  "$work/versitygw" --port "127.0.0.1:$port" --access "$S3_ACCESS_KEY_ID" --secret "$S3_SECRET_ACCESS_KEY" --keep-alive --quiet \
    posix --sidecar "$work/meta" "$work/data" >"$work/log" 2>&1 &
  server=$!
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ! kill -0 "$server" 2>/dev/null; do sleep 0.1; done
  if kill -0 "$server" 2>/dev/null; then break; fi
  stop
done
[ -n "$server" ] || { cat "$work/log"; exit 1; }
export TEST_S3_URL="s3://bucket/tests?region=us-east-1&path-style=true&endpoint=http://127.0.0.1:$port"
go test -count=1 -run '^TestServer$' ./kit/files/s3
go -C scripts/mongod run . -- go test -vet=off -count=1 -run '^TestKillFiles$' ./internal/resilience
