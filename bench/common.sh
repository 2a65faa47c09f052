# What the scripts of the benchmarks share. Each reads it first: source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(dirname "$(dirname "$here")")
# The peers, in the newest releases at the time of the first run. Remove the folders to get newer ones.
private=$root/bench/.private
given_target=${CARGO_TARGET_DIR:-}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$private/target}"

die() {
  echo "bench: $*" >&2
  exit 1
}

need() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || die "$tool is not installed; the benchmark or a peer needs it"
  done
}

# python_environment NAME MODULES PACKAGES...: `python` is a Python that has the packages.
python_environment() {
  local folder=$private/$1 modules=$2
  python=$folder/bin/python
  "$python" -c "import $modules" 2>/dev/null && return
  shift 2
  python3 -m venv --clear "$folder" || die "python3 cannot create a virtual environment"
  "$python" -m pip install --quiet "$@"
}

# npm_packages FOLDER FILE PACKAGES...: installs the packages unless the file is there.
npm_packages() {
  local folder=$private/$1 file=$2
  [[ -e $folder/node_modules/$file ]] && return
  shift 2
  mkdir -p "$folder"
  npm install --silent --no-audit --no-fund --prefix "$folder" "$@"
}

# build_reknit dev|dist|release: REKNIT is the built program, unless it names another one. Where nothing is timed, a debug build is enough.
build_reknit() {
  [[ -z ${REKNIT:-} ]] || return 0
  local target=$CARGO_TARGET_DIR
  [[ $1 != dev ]] || target=${given_target:-$root/target}
  cargo build --quiet --profile "$1" --locked --manifest-path "$root/Cargo.toml" --target-dir "$target" -p reknit-cli
  REKNIT=$target/${1/dev/debug}/reknit
}

machine() {
  echo "${1:+$1; }$(nproc) cores; load $(cut -d ' ' -f 1-3 /proc/loadavg)"
}
