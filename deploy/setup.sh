#!/bin/sh
# Makes sure that the Debian packages of the given groups are installed: deploy/setup.sh GROUP...
#
# Prints nothing if no package is missing. Otherwise the script installs the missing packages with apt-get, as root or
# through sudo, and prints their names. If the script has no right to install packages, it prints their names and fails.
# The file packages.txt defines the groups. The script needs only POSIX sh, since it runs on a new machine before any
# package is installed.
set -eu

list=$(dirname "$0")/packages.txt

say() { echo "setup: $*" >&2; }

[ $# -gt 0 ] || { say "usage: deploy/setup.sh GROUP...   (groups of $list)"; exit 2; }

packages=
for group in "$@"; do
    found=$(awk -v group="$group" '$1 == group { print $2 }' "$list")
    [ -n "$found" ] || { say "no group \"$group\" in $list"; exit 2; }
    packages="$packages $found"
done

if ! command -v dpkg-query >/dev/null 2>&1; then
    say "this is not a Debian system, so nothing is installed; the build needs the contents of these packages:"
    # shellcheck disable=SC2086 # a list of words
    printf '  %s\n' $packages >&2
    exit 0 # packages may be installed under other names; the compiler reports missing libraries
fi

# Under make -j several groups are installed at once, but apt-get does not wait for another apt-get.
if command -v flock >/dev/null 2>&1; then exec 9<"$list" && flock 9; fi

# dpkg-query fails if one package is not installed, so its exit status is ignored. shellcheck disable=SC2086
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null || true)
missing=
for package in $packages; do
    case "
$installed
" in
    *"
installed $package
"*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    say "these packages are missing, and only root can install them; run:"
    echo "  sudo apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# shellcheck disable=SC2086
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1; }

say "installing$missing"
# Container images often have no package lists, or old lists whose versions are no longer available.
# shellcheck disable=SC2086
if ! apt install --no-install-recommends $missing; then
    say "fetching the package lists"
    apt update && apt install --no-install-recommends $missing || {
        tail -n 20 "$log" >&2
        say "apt-get could not install$missing"
        exit 1
    }
fi
say "done"
