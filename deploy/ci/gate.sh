#!/bin/sh
# Stops a CI job if a model does not meet its rules. Asks a rocpr server; needs curl (7.76 or newer) and no Python.
#
#   ROCPR_SERVER=https://rocpr.example.org sh gate.sh RULES.json SCORES [NAME=VALUE ...]
#
# RULES.json  the rules, a JSON list: [{"metric": "roc", "min": 0.9}]; rocpr gate --init --json SCORES prints a first one
# SCORES      a table: .csv, .tsv with tabs, .parquet, or Arrow .arrow, .arrows, .feather; or .json, an evaluation as
#             POST /v1/gates takes it, with baseline, intervals and paired if you want them.
# NAME=VALUE  options for a table: scores=prob labels=y positive_label=yes baseline_scores=old paired=true
#             'intervals={"seed": 7}' ...
#
# ROCPR_SERVER    the server's address, to which /v1/gates is added, with http:// or https://.
# ROCPR_API_KEY   the key, if the server needs one. It is never printed, and never appears on a command line.
# ROCPR_JUNIT     a file for a JUnit report, for which the server is asked once more.
# ROCPR_PLOT      a file for a picture of the verdict, SVG, for which the server is asked once more.
# ROCPR_SECONDS   how long to keep trying if the server is busy or not up yet; 120 by default.
#
# Prints the verdict in Markdown. If $GITHUB_STEP_SUMMARY is set, also adds the verdict, or why there is none, to that file.
# The exit status is 0 if every rule is met, 1 if a rule failed, 2 if none failed but one is undecided, and 3 if there is no verdict.
set -eu

fail() {
    printf 'gate.sh: %s\n' "$*" >&2
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
        text=$(printf '%s\n' "$*" | sed 's/^/    /')
        printf '### Gate not decided ❔\n\n%s\n\n' "$text" >>"$GITHUB_STEP_SUMMARY" || :
    fi
    exit 3
}

# Percent-encodes standard input, byte by byte, except unreserved characters (RFC 3986, 2.3).
encoded() {
    od -An -v -tx1 | LC_ALL=C awk '
        BEGIN {
            for (code = 33; code < 127; code++) {
                character = sprintf("%c", code)
                if (character ~ /[A-Za-z0-9._~-]/) plain[sprintf("%02x", code)] = character
            }
        }
        { for (place = 1; place <= NF; place++) printf "%s", ($place in plain) ? plain[$place] : "%" $place }'
}

# Prints file $1 without the byte order mark that editors and PowerShell put before UTF-8.
unmarked() {
    LC_ALL=C sed "1s/^$(printf '\357\273\277')//" "$1"
}

[ $# -ge 2 ] || fail 'give RULES.json and SCORES; see the head of this file'
rules=$1
scores=$2
shift 2
server=${ROCPR_SERVER:-}
case $server in
    http://?* | https://?*) ;;
    *) fail 'set ROCPR_SERVER, the address of a rocpr server: http://... or https://...' ;;
esac
[ -r "$rules" ] || fail "cannot read $rules"
[ -r "$scores" ] || fail "cannot read $scores"
case $rules in
    *.toml) fail "$rules: the rules are JSON here; rocpr gate reads TOML" ;;
    *.csv | *.tsv | *.parquet | *.arrow | *.arrows | *.feather) fail "RULES.json comes first, then SCORES; $rules is a table" ;;
esac
case ${ROCPR_API_KEY:-} in
    *[!A-Za-z0-9._~+/=-]*) fail 'ROCPR_API_KEY holds characters that are not allowed in a key' ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 3' HUP INT TERM

url=${server%/}/v1/gates
data=$scores
case $scores in
    *.json)
        [ $# -eq 0 ] || fail 'options are for tables; in a JSON file, options are fields'
        # The rules and the status go right after the first brace, before the evaluation's own fields.
        # A byte order mark before it is left out.
        first=$(head -c 1000 "$scores" | LC_ALL=C tr -d ' \t\r\n\357\273\277' | head -c 1)
        [ "$first" = '{' ] || fail "$scores does not start with {"
        before=$(head -c 1000 "$scores" | LC_ALL=C tr '\n' ' ' | LC_ALL=C awk '{ print index($0, "{") }')
        {
            printf '{"fail_status": 409, "rules": '
            unmarked "$rules"
            printf ', '
            tail -c "+$((before + 1))" "$scores"
        } >"$folder/body"
        data=$folder/body
        type=application/json
        ;;
    *.csv | *.tsv) type=text/csv ;;
    *.parquet) type=application/vnd.apache.parquet ;;
    *.arrow | *.arrows | *.feather)
        type=application/vnd.apache.arrow.stream
        if [ "$(head -c 6 "$scores" | LC_ALL=C tr -cd 'A-Z1')" = ARROW1 ]; then
            type=application/vnd.apache.arrow.file
        fi
        ;;
    *) fail "$scores does not end in .csv, .tsv, .json, .parquet, .arrow, .arrows or .feather" ;;
esac
if [ "$type" != application/json ]; then
    url="$url?fail_status=409&rules=$(unmarked "$rules" | encoded)"
    for option in "$@"; do
        case $option in
            ?*=*) url="$url&$(printf '%s' "${option%%=*}" | encoded)=$(printf '%s' "${option#*=}" | encoded)" ;;
            *) fail "$option is not NAME=VALUE" ;;
        esac
    done
    case $scores in
        *.tsv) case $url in *'&delimiter='*) ;; *) url="$url&delimiter=tab" ;; esac ;;
    esac
fi

# Asks for the verdict as media type $1, into file $2. Prints the status and the media type of the answer, or 000 if there is
# no whole answer. The key is passed on standard input, because others may see a command line. curl itself asks again if the
# server is busy or refuses the connection, but not if the connection breaks: 18, 52, 55 and 56.
ask() {
    end=$(($(date +%s) + ${ROCPR_SECONDS:-120}))
    for pause in 1 2 4 8 0; do
        ended=0
        answered=$(ask_once "$1" "$2") || ended=$?
        case $ended in 0 | 22) break ;; esac
        answered='000 '
        case $ended in 18 | 52 | 55 | 56) ;; *) break ;; esac
        if [ "$pause" -eq 0 ] || [ "$(($(date +%s) + pause))" -ge "$end" ]; then break; fi
        sleep "$pause"
    done
    printf '%s\n' "$answered"
}

ask_once() {
    if [ -n "${ROCPR_API_KEY:-}" ]; then
        printf 'header = "Authorization: Bearer %s"\n' "$ROCPR_API_KEY"
    fi | curl --config - --silent --show-error --fail-with-body \
        --header "Content-Type: $type" --header "Accept: $1, application/problem+json;q=0.5" --data-binary "@$data" \
        --connect-timeout 10 --max-time 300 \
        --retry 30 --retry-max-time "${ROCPR_SECONDS:-120}" --retry-connrefused \
        --output "$2" --write-out '%{http_code} %{content_type}' "$url" 2>"$folder/complaints"
}

# A server other than rocpr may also answer 200, but not with a verdict. The heading says which verdict it is.
answer=$(ask text/markdown "$folder/verdict")
heading=$(head -n 1 "$folder/verdict" 2>/dev/null) || heading=
case "$answer: $heading" in
    '200 text/markdown'*': ### Gate passed'*) verdict=0 ;;
    '409 text/markdown'*': ### Gate failed'*) verdict=1 ;;
    '409 text/markdown'*': ### Gate undecided'*) verdict=2 ;;
    *)
        case $answer in *json*) cat "$folder/verdict" >>"$folder/complaints" || : ;; esac
        case $answer in 404*) printf 'ROCPR_SERVER is the address without /v1/gates.\n' >>"$folder/complaints" ;; esac
        case $answer in 401*) printf 'Put a key that the server knows into ROCPR_API_KEY.\n' >>"$folder/complaints" ;; esac
        fail "no verdict from $server (status $answer)
$(cat "$folder/complaints")"
        ;;
esac
cat "$folder/verdict"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$folder/verdict" >>"$GITHUB_STEP_SUMMARY" || exit 3
fi

# If a file $2 is named, asks once more, for media type $1, and writes the answer there; $3 is what to call the answer.
also() {
    if [ -z "$2" ]; then return; fi
    again=$(ask "$1" "$folder/again")
    case $again in
        "200 $1"* | "409 $1"*) cat "$folder/again" >"$2" || exit 3 ;;
        *) fail "no $3 from $server (status $again)" ;;
    esac
}

also application/xml "${ROCPR_JUNIT:-}" 'JUnit report'
also image/svg+xml "${ROCPR_PLOT:-}" 'picture'
exit "$verdict"
