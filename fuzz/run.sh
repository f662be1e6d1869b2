#!/usr/bin/env bash
# Fuzzes the parsers. See usage below.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat << 'TEXT'
usage: fuzz/run.sh SECONDS [TARGET...]

Builds the fuzz targets in build/fuzz (clang 19, address and undefined-behaviour sanitizers) and runs
each for SECONDS, two at a time, from its corpus in fuzz/corpus. Without a TARGET: all of them. New
inputs are kept in build/fuzz/corpus, logs and findings in build/fuzz/findings. Needs the packages
clang-19, libclang-rt-19-dev and lld-19.
TEXT
}

if (($# < 1)) || ! [[ $1 =~ ^[0-9]+$ ]]; then
  usage >&2
  exit 2
fi
seconds=$1
shift
targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in "$root"/fuzz/*_fuzz.cpp; do
    name=$(basename "$source" _fuzz.cpp)
    targets+=("$name")
  done
fi

build=$root/build/fuzz
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
  -DRAPT_FUZZ=ON -DRAPT_BUILD_TESTS=OFF '-DRAPT_SANITIZE=address;undefined' > /dev/null
ninja -C "$build" "${targets[@]/%/_fuzz}"

mkdir -p "$build/findings"
run_target() {
  local name=$1
  mkdir -p "$build/corpus/$name"
  # A finding ends the run with a code of its own and leaves the input.
  if "$build/fuzz/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=3000 \
    -print_final_stats=1 -artifact_prefix="$build/findings/$name-" \
    "$build/corpus/$name" "$root/fuzz/corpus/$name" > "$build/findings/$name.log" 2>&1; then
    printf '%s: no finding, %s executions\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/findings/$name.log")"
  else
    printf '%s: a finding; see %s\n' "$name" "$build/findings/$name.log"
    return 1
  fi
}

failed=0
while ((${#targets[@]} > 0)); do
  pids=()
  for name in "${targets[@]:0:2}"; do
    run_target "$name" &
    pids+=($!)
  done
  targets=("${targets[@]:2}")
  for pid in "${pids[@]}"; do
    wait "$pid" || failed=1
  done
done
exit "$failed"
