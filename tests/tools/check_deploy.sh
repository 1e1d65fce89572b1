#!/usr/bin/env bash
# Checks the deployment files: the restrictions of the systemd unit, the completeness of the list of packages,
# and the hardening of the programs. TAP; needs built programs.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 2
programs=("${HAMEL:-build/hamel}" "${HAMELD:-build/hameld}")
exposure_most=1.5 # on the scale of systemd-analyze, 0 to 10


exposure() {
    local level
    level=$(systemd-analyze security --offline=true deploy/hamel.service 2>/dev/null |
        sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
    awk -v level="${level:-10}" -v most="$exposure_most" 'BEGIN { if (level > most) print level " of 10, at most " most }'
}

# Only libraries that the programs link directly are checked. Their packages depend on the other libraries.
libraries_without_package() {
    local name path package
    for name in $(readelf -d "${programs[@]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort -u); do
        path=$(ldd "${programs[@]}" | awk -v name="$name" '$1 == name { print $3; exit }')
        path=$(realpath "$path") # dpkg lists files by their path in the package, with or without /usr
        package=$(dpkg -S "$path" "${path#/usr}" 2>/dev/null | head -n 1 | cut -d: -f1)
        [ "$package" = libc6 ] || grep -qx "run $package" deploy/packages.txt || echo "$name: ${package:-no package}"
    done
}

hardening() {
    local program
    for program in "${programs[@]}"; do
        readelf -h "$program" | grep "Type:.*DYN" >/dev/null || echo "$program: not a position-independent executable"
        readelf -l "$program" | grep GNU_RELRO >/dev/null || echo "$program: no RELRO"
        readelf -d "$program" | grep BIND_NOW >/dev/null || echo "$program: symbols are not bound when the program starts"
        readelf -l "$program" | grep -A1 GNU_STACK | grep RWE >/dev/null && echo "$program: the stack is executable"
        readelf -W --dyn-syms "$program" | grep __stack_chk_fail >/dev/null || echo "$program: no stack protector"
        readelf -W --dyn-syms "$program" | grep '_chk@' >/dev/null || echo "$program: not fortified"
    done
}

if command -v systemd-analyze >/dev/null; then
    verdict "the exposure of the unit is small" "$(exposure)"
else
    outcome 0 "the exposure of the unit is small # SKIP systemd-analyze is not installed"
fi
verdict "deploy/packages.txt contains the package of each library" "$(libraries_without_package)"
verdict "the programs are hardened" "$(hardening)"
finish
