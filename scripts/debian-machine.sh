# shellcheck shell=bash
# A Debian machine for tests, from nothing: a root made by debootstrap, booted with systemd by systemd-nspawn. Needs root, and
# the packages debootstrap and systemd-container; systemd need not run on the host. Other scripts source this file:
#
#   base_root TARBALL [PACKAGES]  makes the tarball of a root with these packages, or with systemd, unless it is there
#   unpack_root TARBALL ROOT      a fresh root from it
#   boot ROOT                     boots it; it has no network but its loopback
#   inside COMMAND…               runs a command in the booted machine
#   halt                          shuts it down

readonly SUITE=bookworm
readonly MIRROR=${MIRROR:-http://deb.debian.org/debian}
# What a minimal installation of Debian has, and a bot needs.
readonly PACKAGES=systemd,systemd-sysv,dbus,ca-certificates,procps

# systemd-nspawn, and the first process of the machine.
nspawn=
leader=

base_root() {
    local tarball=$1 packages=${2:-$PACKAGES} root
    [ -f "$tarball" ] && return
    root=$(mktemp --directory --tmpdir="$(dirname "$tarball")")
    # Every user of the machine enters it; mktemp makes it for its owner only.
    chmod 755 "$root"
    debootstrap --variant=minbase --include="$packages" "$SUITE" "$root" "$MIRROR" >"$tarball.log" 2>&1 ||
        { tail "$tarball.log" >&2 && return 1; }
    tar --create --file "$tarball.part" --directory "$root" --numeric-owner --xattrs .
    mv "$tarball.part" "$tarball"
    rm -rf "$root"
}

unpack_root() {
    rm -rf "$2"
    mkdir -p "$2"
    tar --extract --file "$1" --directory "$2" --numeric-owner --xattrs
}

# Registers nothing and makes no unit on the host, so that it boots where PID 1 is not systemd; the machine gets cgroups of
# version 2 also where the host has both.
boot() {
    SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet --boot --directory="$1" --machine="machine-$$" \
        --register=no --keep-unit --private-network --console=pipe --kill-signal=SIGRTMIN+3 \
        --resolv-conf=off --timezone=off </dev/null >"$1.console" 2>&1 &
    nspawn=$!
    local tries=0
    until leader=$(pgrep --parent "$nspawn" systemd) &&
        [ "$(inside systemctl is-system-running 2>/dev/null)" = running ]; do
        if [ "$((tries += 1))" -gt 300 ] || ! kill -0 "$nspawn" 2>/dev/null; then
            echo "the machine does not boot:" >&2
            tail "$1.console" >&2
            inside systemctl list-units --failed --no-legend >&2 || true
            return 1
        fi
        sleep 0.1
    done
}

inside() {
    nsenter --target "$leader" --all --wdns=/ -- \
        env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive HOME=/root "$@"
}

halt() {
    [ -n "$nspawn" ] || return 0
    kill -TERM "$nspawn" 2>/dev/null || true
    wait "$nspawn" || true
    nspawn=
    leader=
}
