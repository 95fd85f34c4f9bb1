#!/bin/sh
# Starts a server, generates clients from its /openapi-clients.json, compiles them, and has each make three calls: curves,
# a gate, and a request that gets 422. Then converts the contract to a Postman collection and sends its requests.
#
#   sh deploy/clients.sh [java|generated|fetch|orval|go|python|php|csharp|kotlin|rust|postman]...
#
# Without a name, it does all of them. Clients for which the machine lacks something are skipped, and the missing part is
# named; C#, Kotlin and Rust clients are only generated. Generators come from PyPI and npm, into a temporary folder, or into
# CLIENTS_TOOLS, which is kept for the next run.
# From Debian: default-jdk-headless libjackson2-databind-java libjsr305-java libgeronimo-annotation-1.3-spec-java golang-go
# php-cli php-curl php-mbstring php-guzzlehttp-guzzle nodejs npm
# shellcheck disable=SC2329  # functions are called by the names given as arguments
set -eu
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-$root/.venv/bin/python}
[ -n "${PYTHON:-}" ] || sh deploy/setup.sh run
here=$root/deploy/clients
work=$(mktemp -d)
tools=${CLIENTS_TOOLS:-$work/tools}
mkdir -p "$tools"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
jars=/usr/share/java
expected="0.7777777777777778 passed /labels"
failed=0

generator() { # the program of openapi-generator
    if [ ! -x "$tools/generator/bin/openapi-generator-cli" ]; then
        python3 -m venv "$tools/generator" && "$tools/generator/bin/pip" install --quiet openapi-generator-cli==7.26.0
    fi
}
node_tools() { # and the libraries of TypeScript's clients
    [ -d "$tools/node/node_modules/orval" ] || npm install --silent --no-audit --no-fund --prefix "$tools/node" \
        typescript@5.9 @types/node@22 openapi-typescript@7.13 openapi-fetch@0.17 orval@7.13 \
        openapi-to-postmanv2@6.3
}
generate() { # LANGUAGE OPTION...
    language=$1
    shift
    "$tools/generator/bin/openapi-generator-cli" generate -i "$work/contract.json" -g "$language" -o "$work/$language" "$@"
}
typescript() { # FILE: compile it strictly and run it
    ln -sfn "$tools/node/node_modules" "$work/ts/node_modules" && cp "$here/$1.ts" "$work/ts/" &&
        echo '{"type": "module"}' > "$work/ts/package.json" &&
        (cd "$work/ts" && node_modules/.bin/tsc --strict --target es2022 --module nodenext --types node "$1.ts" >&2) &&
        node "$work/ts/$1.js" "$address"
}

java_() {
    generate java --library native --additional-properties=openApiNullable=false >&2 || return
    source=$work/java/src/main/java
    rm "$source/org/openapitools/client/RFC3339InstantDeserializer.java"
    cp "$here/java/RFC3339JavaTimeModule.java" "$source/org/openapitools/client/"
    path=$work/java/classes
    for jar in jackson-core jackson-databind jackson-annotations jsr305 geronimo-annotation-1.3-spec; do
        path=$path:$jars/$jar.jar
    done
    find "$source" "$here/java/Main.java" "$here/java/JavaTimeModule.java" -name '*.java' > "$work/java/sources" &&
        javac -nowarn -d "$work/java/classes" -cp "$path" @"$work/java/sources" >&2 && java -cp "$path" Main "$address"
}
generated() {
    generate typescript-fetch --additional-properties=importFileExtension=.js >&2 && mkdir -p "$work/ts" &&
        cp -r "$work/typescript-fetch" "$work/ts/client" && typescript generated
}
fetch() {
    mkdir -p "$work/ts" && "$tools/node/node_modules/.bin/openapi-typescript" "$work/contract.json" \
        -o "$work/ts/schema.d.ts" >&2 && typescript fetch
}
orval() {
    mkdir -p "$work/ts" && echo "module.exports = {rocpr: {
        input: '$work/contract.json', output: {target: '$work/ts/orval_client.ts', client: 'fetch', baseUrl: '$address'}}}" \
        > "$work/ts/orval.config.cjs" && "$tools/node/node_modules/.bin/orval" --config "$work/ts/orval.config.cjs" >&2 &&
        typescript orval
}
go_() {
    generate go >&2 && mkdir "$work/go/cmd" && cp "$here/main.go" "$work/go/cmd/" &&
        (cd "$work/go" && GOFLAGS=-mod=mod go build -o client ./cmd >&2) && "$work/go/client" "$address"
}
python_() {
    generate python >&2 && python3 -m venv "$work/python/env" &&
        "$work/python/env/bin/pip" install --quiet "$work/python" >&2 &&
        "$work/python/env/bin/python" "$here/call.py" "$address"
}
php_() {
    generate php >&2 && php "$here/call.php" "$address" "$work/php"
}
only_generated() { # LANGUAGE
    generate "$1" >&2 && echo "$expected"
}
postman() {
    "$tools/node/node_modules/.bin/openapi2postmanv2" -s "$work/contract.json" -o "$work/collection.json" >&2 &&
        "$python" "$here/collection.py" "$work/collection.json" "$address" >&2 && echo "$expected"
}

lacks() { # the first of a client's needs that is missing; a name with a slash is a file
    for need in $1; do
        case $need in
            /*) [ -e "$need" ] || { echo "${need##*/}"; return; } ;;
            generator | node_tools) "$need" > "$work/install.log" 2>&1 || { echo "$need"; return; } ;;
            *) command -v "$need" > "$work/install.log" || { echo "$need"; return; } ;;
        esac
    done
}
check() { # NAME NEEDS COMMAND...
    name=$1 needs=$2
    shift 2
    case " ${wanted:-$name} " in *" $name "*) ;; *) return ;; esac
    missing=$(lacks "$needs")
    if [ -n "$missing" ]; then
        echo "$name: skipped, this machine lacks $missing"
    elif printed=$("$@" 2> "$work/log") && [ "$printed" = "$expected" ]; then
        echo "$name: ok"
    else
        echo "$name: FAILED: ${printed:-nothing printed}"
        tail -n 20 "$work/log"
        failed=1
    fi
}

port=$("$python" -c 'import socket; found = socket.create_server(("127.0.0.1", 0)); print(found.getsockname()[1])')
address=http://127.0.0.1:$port
"$python" -c 'from service.cli.main import main; main()' serve --port "$port" 2> "$work/server.log" &
server=$!
"$python" - "$address" "$work/contract.json" <<'PYTHON'
import pathlib, sys, time
import requests

for _ in range(100):
    try:
        contract = requests.get(sys.argv[1] + "/openapi-clients.json", timeout=60)
        break
    except requests.ConnectionError:
        time.sleep(0.2)
pathlib.Path(sys.argv[2]).write_bytes(contract.content)
PYTHON

wanted=$*
check java "java javac $jars/jackson-databind.jar $jars/jsr305.jar $jars/geronimo-annotation-1.3-spec.jar generator" java_
check generated "java node npm generator node_tools" generated
check fetch "node npm node_tools" fetch
check orval "node npm node_tools" orval
check go "java go generator" go_
check python "java generator" python_
check php "java php /usr/share/php/GuzzleHttp/autoload.php generator" php_
for language in csharp kotlin rust; do
    check "$language" "java generator" only_generated "$language"
done
check postman "node npm node_tools" postman
exit $failed
