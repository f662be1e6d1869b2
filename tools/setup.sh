#!/usr/bin/env bash
# Shared by ./run and ./test, which source it: installs what is missing and says so first. Everything
# here is quick, and silent but for one line, when nothing is missing.

# The interpreter that the distribution's packages (python3-venv, python3-numpy) belong to.
system_python() {
  if [[ -x /usr/bin/python3 ]]; then
    echo /usr/bin/python3
  else
    command -v python3
  fi
}

say() {
  printf '%s\n' "$*"
}

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

package_is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2> /dev/null) == installed ]]
}

# Of the names in "a|b", the installed one, else the first that the package lists know, else the first.
choose_package() {
  local -a names
  local name
  IFS='|' read -r -a names <<< "$1"
  for name in "${names[@]}"; do
    if package_is_installed "$name"; then
      echo "$name"
      return
    fi
  done
  if ((${#names[@]} > 1)); then
    for name in "${names[@]}"; do
      if [[ -n $(apt-cache --names-only search "^${name//+/\\+}\$" 2> /dev/null) ]]; then
        echo "$name"
        return
      fi
    done
  fi
  echo "${names[0]}"
}

# missing_packages FILE GROUP...: the packages of these groups that are not installed, as FILE names them.
missing_packages() {
  local file=$1 group names wanted found name
  local -a alternatives
  shift
  while read -r group names; do
    for wanted in "$@"; do
      [[ $group == "$wanted" ]] || continue
      found=no
      IFS='|' read -r -a alternatives <<< "$names"
      for name in "${alternatives[@]}"; do
        if package_is_installed "$name"; then
          found=yes
        fi
      done
      [[ $found == yes ]] || echo "$names"
    done
  done < <(grep -v -e '^#' -e '^$' "$file") | sort -u
}

# ensure_packages ROOT GROUP...: installs what is missing with apt.
ensure_packages() {
  local root=$1 as_root='' names
  local -a missing chosen=()
  shift
  if ! command -v dpkg-query > /dev/null; then
    say "setup: no dpkg here, so nothing is installed; what is needed stands in tools/packages.txt"
    return
  fi
  mapfile -t missing < <(missing_packages "$root/tools/packages.txt" "$@")
  if ((${#missing[@]} == 0)); then
    say "setup: all packages are installed"
    return
  fi
  say "setup: will install with apt: ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo > /dev/null || fail "setup: installing these needs root, this is not root, and \
sudo is not there. Run as root: apt-get update && apt-get install --no-install-recommends \
${missing[*]%%|*}"
    as_root=sudo
  fi
  $as_root apt-get update -q -o DPkg::Lock::Timeout=300 \
    || fail "setup: 'apt-get update' failed; see its message above"
  for names in "${missing[@]}"; do
    chosen+=("$(choose_package "$names")")
  done
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "${chosen[@]}" \
    || fail "setup: 'apt-get install ${chosen[*]}' failed; see its message above"
}

# ensure_venv ROOT: .venv with the packages of tests/requirements.txt and requirements-no-deps.txt. A
# stamp holds the lists' hash, so that unchanged lists cost nothing.
ensure_venv() {
  local root=$1 python wanted
  local stamp=$root/.venv/requirements.sha256
  local list=$root/tests/requirements.txt
  local bare_list=$root/tests/requirements-no-deps.txt
  python=$(system_python) || fail "setup: python3 is not there; install it (package python3)"
  wanted=$({ cat "$list" "$bare_list"; "$python" --version; } | sha256sum | cut -d ' ' -f 1)
  if [[ -x $root/.venv/bin/python && -f $stamp && $(< "$stamp") == "$wanted" ]]; then
    say "setup: .venv is up to date"
    return
  fi
  say "setup: will make .venv with pip from tests/requirements*.txt:" \
    "$(cat "$list" "$bare_list" | grep -v -e '^#' -e '^$' | tr '\n' ' ')"
  "$python" -m venv --clear "$root/.venv" || fail "setup: '$python -m venv' failed"
  "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list" \
    || fail "setup: 'pip install -r tests/requirements.txt' failed; see its message above"
  "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$bare_list" \
    || fail "setup: 'pip install -r tests/requirements-no-deps.txt' failed; see its message above"
  printf '%s\n' "$wanted" > "$stamp"
}

# A progress line for ninja: done/total and the seconds so far.
export NINJA_STATUS='[%f/%t %es] '

# configure ROOT PRESET TESTS: makes build/PRESET when it is not there, or when it lacks the unit tests
# and TESTS is ON. Otherwise ninja itself runs CMake again when a CMake file changed.
configure() {
  local root=$1 preset=$2 tests=$3
  local cache=$root/build/$preset/CMakeCache.txt
  if [[ -f $root/build/$preset/build.ninja ]]; then
    if [[ $tests == OFF ]] || grep -q '^RAPT_BUILD_TESTS:BOOL=ON$' "$cache"; then
      return
    fi
  fi
  (cd "$root" && cmake --preset "$preset" "-DRAPT_BUILD_TESTS=$tests")
}
