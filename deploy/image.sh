#!/bin/sh
# Builds the image with its bill of materials, which deploy/sbom.sh wrote to deploy/requirements.cdx.json. Then checks that
# the image holds the bill, and becomes healthy with no rights and only /tmp to write to. Needs docker; further arguments
# are options of docker build.
#
#   sh deploy/image.sh NAME [OPTION...]
set -eu
name=${1:?the name of the image}
shift
cd "$(dirname "$0")/.."

docker build --file deploy/Dockerfile --tag "$name" "$@" .
docker run --rm --entrypoint cat "$name" /usr/share/doc/rocpr/requirements.cdx.json | cmp - deploy/requirements.cdx.json

container=$(docker run --detach --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges "$name")
trap 'docker rm --force "$container" >/dev/null' EXIT
for _ in $(seq 60); do
    if [ "$(docker inspect --format '{{.State.Health.Status}}' "$container")" = healthy ]; then
        exit 0
    fi
    sleep 1
done
docker logs "$container" >&2
exit 1
