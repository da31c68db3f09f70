# Sourced by demo.sh and test.sh from the root of the checkout: makes .venv and says what it installs.
# Usage: ghost_setup EXTRAS [DEBIAN_PACKAGE...]      e.g.  ghost_setup dev,pybullet libegl1

ghost_say() {
    if [ -t 1 ]; then printf '\033[1m==> %s\033[0m\n' "$*"; else printf '==> %s\n' "$*"; fi
}

ghost_python() {
    local candidate
    for candidate in python3.11 python3.12 python3.13 python3; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            echo "$candidate"
            return
        fi
    done
    echo "Ghost needs Python 3.11 or newer: apt-get install python3 python3-venv" >&2
    return 1
}

ghost_apt() {
    local missing=() package
    command -v dpkg-query >/dev/null 2>&1 || {
        ghost_say "not a Debian system; please install yourself: $*"
        return 0
    }
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
            missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null 2>&1; then
            as_root=(sudo)
        else
            ghost_say "neither root nor sudo; please install: ${missing[*]}"
            return 0
        fi
    fi
    "${as_root[@]}" apt-get update -qq
    # Not every Debian has every package (ignition-transport-cli: 12 only).
    local known=()
    for package in "${missing[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            known+=("$package")
        else
            ghost_say "this Debian has no $package; what needs it is skipped"
        fi
    done
    [ ${#known[@]} -eq 0 ] && return 0
    ghost_say "installing Debian packages: ${known[*]}"
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
        "${known[@]}" >/dev/null
}

ghost_setup() {
    local extras=$1 python wanted
    shift
    ghost_apt "$@"
    python=$(ghost_python)
    if [ ! -x .venv/bin/python ]; then
        ghost_say "making .venv with $($python --version)"
        "$python" -c 'import ensurepip' 2>/dev/null || ghost_apt python3-venv
        "$python" -m venv .venv
    fi
    # A venv is complete for these extras at this pyproject.toml.
    wanted=$({ cat pyproject.toml; echo "$extras"; } | sha256sum | cut -c1-16)
    if [ ! -e ".venv/.ghost-$wanted" ]; then
        ghost_say "installing ghost[$extras] and its Python dependencies into .venv"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[$extras]"
        touch ".venv/.ghost-$wanted"
    fi
}
