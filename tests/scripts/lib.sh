# Sourced by the tests of this folder, behind tools/lib.sh: what a command must say.
# shellcheck shell=bash

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
wrong=0

# says <what> <exit code> <text it must hold> <command…>: one line, from both streams.
says() {
  local what=$1 code=$2 text=$3 ended=0
  shift 3
  "$@" >"$made/said" 2>&1 </dev/null || ended=$?
  if [ "$ended" -eq "$code" ] && [ "$(wc -l <"$made/said")" -eq 1 ] &&
    grep -qF -- "$text" "$made/said"; then
    return
  fi
  say "$what: exit code $ended, and it said:"
  cat "$made/said"
  wrong=$((wrong + 1))
}
