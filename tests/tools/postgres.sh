#!/usr/bin/env bash
# Runs a private PostgreSQL server for a test. The server listens only on a socket in its directory. Its superuser is
# `hamel`.
#
#   `postgres.sh start DIR PID [LINE...]` creates and starts a server, with LINEs added to postgresql.conf.
#   When the process PID has ended, the server is stopped and DIR removed.
#   `postgres.sh again DIR` restarts a server that has ended.
#   `postgres.sh kill DIR` kills the server with SIGKILL.
#   `postgres.sh stop DIR` stops the server and removes DIR.
#   `postgres.sh sql DIR DATABASE COMMAND...` executes SQL commands.
#
# The URL is postgresql://hamel@/DATABASE?host=DIR. DIR must be short: a socket path has at most 107 bytes. If the
# user is root, all commands run as the user postgres, because PostgreSQL does not run as root.
set -euo pipefail

bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin | sort -V | tail -n 1)
action=$1
dir=$2

as_server() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

up() { as_server "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w -s start >/dev/null; }

case $action in
start)
    mkdir -p "$dir"
    [ "$(id -u)" != 0 ] || chown postgres "$dir"
    as_server "$bin/initdb" -D "$dir/data" -U hamel -A trust -E UTF8 --locale=C --no-sync >/dev/null
    as_server tee -a "$dir/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$dir'
max_connections = 60
shared_buffers = 32MB
log_min_messages = warning
$(printf '%s\n' "${@:4}")
CONF
    up
    (
        exec </dev/null >/dev/null 2>&1
        while kill -0 "$3" 2>/dev/null && [ -d "$dir" ]; do sleep 1; done
        [ ! -d "$dir" ] || "$0" stop "$dir"
    ) &
    ;;
again) up ;;
kill)
    pid=$(head -n 1 "$dir/data/postmaster.pid")
    children=$(pgrep -P "$pid" || true)
    kill -9 "$pid"
    # The child processes of the server must have ended before the next server starts.
    for process in $pid $children; do
        while kill -0 "$process" 2>/dev/null; do sleep 0.02; done
    done
    rm -f "$dir/data/postmaster.pid"
    ;;
stop)
    as_server "$bin/pg_ctl" -D "$dir/data" -s -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$dir"
    ;;
sql) as_server "$bin/psql" -qAtX -v ON_ERROR_STOP=1 -h "$dir" -U hamel -d "$3" -c "${*:4}" ;;
*) exit 2 ;;
esac
