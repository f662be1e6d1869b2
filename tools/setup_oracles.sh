#!/usr/bin/env bash
# Makes .oracle-venv in the repository root: PyTorch and transformers at fixed versions, the oracle
# that tools/make_golden.py compares with. Only `./test --oracles` needs it.
#
# PyTorch's wheel is built for CUDA and its pip dependencies weigh about 3 GB. Where the CUDA
# toolkit's own libraries are on the loader path, PyTorch is installed without them (0.5 GB to
# download, 1.6 GB on disk), and the few libraries that the toolkit lacks are replaced by stand-ins
# that only satisfy the loader: the oracle runs on the CPU and never calls into them.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv="$root/.oracle-venv"
python="$venv/bin/python"

torch_version=2.15.0
pure_packages=(
  transformers==5.24.0 safetensors==0.8.0 tokenizers==0.23.3 numpy==2.4.6 gguf==0.19.0
  filelock typing-extensions 'setuptools>=77' sympy networkx jinja2 fsspec pytest
)
done_mark="$venv/ready-torch-$torch_version-transformers-5.24.0-gguf-0.19.0"

usage() {
  cat <<TEXT
usage: tools/setup_oracles.sh [--full] [--help]

Creates .oracle-venv with torch $torch_version, transformers 5.24.0 and gguf (for ./test --oracles).
Quick when it is there already.

  --full   install PyTorch with all its CUDA packages (3 GB) even where a CUDA toolkit is present
TEXT
}

full=0
for argument in "$@"; do
  case "$argument" in
    --full) full=1 ;;
    --help | -h) usage; exit 0 ;;
    *) echo "setup_oracles: unknown argument '$argument'" >&2; usage >&2; exit 2 ;;
  esac
done

if [[ -e "$done_mark" ]]; then
  echo "oracles: $venv is ready"
  exit 0
fi

# The toolkit counts as present when its largest piece is found; gcc and binutils make stand-ins.
toolkit_present() {
  ldconfig -p | grep -q 'libcublas\.so\.13' && command -v gcc nm ldd > /dev/null
}

# Writes a shared library with the given file name that defines every symbol that PyTorch's
# libraries leave undefined and that begins like this library's own functions. Symbol versions
# (name@VERSION) must be there too, or the loader refuses the library.
make_stand_in() {
  local name=$1 folder=$2 prefix work
  case "$name" in
    libcufile.*) prefix='cuFile' ;;
    libcusparseLt.*) prefix='cusparseLt' ;;
    libnvshmem_host.*) prefix='nvshmem' ;;
    libcuda.*) prefix='cu[A-Z]' ;;
    libnccl.*) prefix='nccl' ;;
    *) prefix='(cu|nv)' ;;
  esac
  work=$(mktemp -d)
  nm -D --undefined-only "$folder"/*.so 2> /dev/null \
    | awk -v prefix="^$prefix" '$2 ~ prefix { print $2 }' | sort -u > "$work/symbols"
  sed 's/@.*//; s/.*/void* &;/' "$work/symbols" | sort -u > "$work/stand_in.c"
  awk -F@ 'NF > 1 { names[$NF] = names[$NF] " " $1 ";" }
           END { for (v in names) print v " { global:" names[v] " };" }' \
    "$work/symbols" > "$work/versions"
  local flags=(-shared -fPIC -w "-Wl,-soname,$name")
  if [[ -s "$work/versions" ]]; then
    flags+=("-Wl,--version-script,$work/versions")
  fi
  gcc "${flags[@]}" -o "$folder/$name" "$work/stand_in.c"
  echo "oracles:   stand-in for $name ($(wc -l < "$work/stand_in.c") symbols)"
  rm -r "$work"
}

make_stand_ins() {
  local folder missing
  folder=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/torch/lib
  missing=$(ldd "$folder"/*.so 2> /dev/null \
    | awk '/not found/ { print $1 }' | sort -u)
  for name in $missing; do
    make_stand_in "$name" "$folder"
  done
  # A toolkit's NCCL may be older than the one PyTorch was built with.
  if ldd -r "$folder"/libtorch_cuda.so 2>&1 | grep -q 'undefined symbol: nccl'; then
    make_stand_in libnccl.so.2 "$folder"
  fi
}

echo "oracles: making $venv"
python3 -m venv --clear "$venv"
echo "oracles: installing ${pure_packages[*]}"
"$python" -m pip install --quiet "${pure_packages[@]}"
if [[ $full == 0 ]] && toolkit_present; then
  echo "oracles: installing torch $torch_version; a CUDA toolkit stands in for its CUDA packages"
  "$python" -m pip install --quiet --no-deps "torch==$torch_version"
  make_stand_ins
else
  echo "oracles: installing torch $torch_version with its CUDA packages (about 3 GB)"
  "$python" -m pip install --quiet "torch==$torch_version"
fi
"$python" -c 'import torch, transformers
print("oracles: torch", torch.__version__, "and transformers", transformers.__version__, "load")'
touch "$done_mark"
