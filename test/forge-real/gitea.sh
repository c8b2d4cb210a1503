#!/bin/bash
# Prints the path of a Gitea or Forgejo for the tests of this folder: $GITEA, or one that an earlier run has built, or a
# new one, built with Go from the sources that gitea/go.mod names (ten minutes on two cores, 3 GB below $FORGE_CACHE and
# Go's own caches). Fails with the reason where there is none.
set -euo pipefail
HERE=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
VERSION=$(awk '$1 == "code.gitea.io/gitea" { print substr($2, 2) }' "$HERE/gitea/go.mod")
CACHE=${FORGE_CACHE:-/var/tmp/ops-panel-forge}/gitea-$VERSION

none() {
  echo "test:forge: there is no real forge to test against: $*" >&2
  echo 'test:forge: set GITEA to the path of a Gitea or Forgejo (1.23 or later), or install Go and a C compiler.' >&2
  exit 1
}

if [ -n "${GITEA:-}" ]; then
  [ -x "$GITEA" ] || none "GITEA=$GITEA is no program."
  readlink -f "$GITEA"
  exit
fi
if [ -x "$CACHE/gitea" ]; then
  echo "$CACHE/gitea"
  exit
fi
PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || none 'GITEA is not set, and Go is missing, which could build it.'
command -v cc >/dev/null || none 'GITEA is not set, and a C compiler is missing, which SQLite needs.'

# Only a whole one gets the name of the cache.
building=$CACHE.$$
trap 'rm -rf "$building"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$building"
cp "$HERE"/gitea/{go.mod,go.sum,tools.go} "$building"
echo "test:forge: building Gitea $VERSION, about ten minutes …" >&2
cd "$building"
export GOFLAGS=-mod=readonly CGO_ENABLED=1
go mod download code.gitea.io/gitea >&2 || none 'its sources cannot be downloaded.'
nice go build -tags 'sqlite sqlite_unlock_notify' -ldflags "-X main.Version=$VERSION" -o gitea code.gitea.io/gitea >&2 ||
  none 'it could not be built.'
# The files that a release carries inside: Gitea reads them from STATIC_ROOT_PATH, which gitea.ts sets where the folder exists.
sources=$(go list -m -f '{{.Dir}}' code.gitea.io/gitea)
mkdir static
cp -r "$sources"/{templates,options,public} static/
chmod -R u+w static
rm -rf "$CACHE"
mv "$building" "$CACHE"
echo "$CACHE/gitea"
