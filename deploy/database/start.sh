#!/bin/sh
# Starts PostgreSQL in a container. Before the first start, makes the cluster and an empty database. The owner's password is in a
# file; the migration sets those of the other roles. Every client of the container's network needs a password.
set -eu
cluster=${DATABASE_DATA:-/data}/cluster
password=${DATABASE_PASSWORD_FILE:-/run/secrets/owner.password}
here=$(dirname "$0")
settings=${DATABASE_SETTINGS:-$here/postgresql.conf}

# The cluster has another name until it is complete: a container may be stopped at any time.
if [ ! -e "$cluster" ]; then
  rm -rf "$cluster.new"
  initdb -D "$cluster.new" -U restbench_owner --pwfile="$password" --auth=scram-sha-256 -E UTF8 --locale=C.UTF-8 --data-checksums
  echo 'host all all samenet scram-sha-256' >> "$cluster.new/pg_hba.conf"
  printf '%s\n' 'CREATE DATABASE restbench' 'REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC' | postgres --single -c exit_on_error=true -D "$cluster.new" postgres
  mv "$cluster.new" "$cluster"
fi

# Each line `name = value` of the settings file is a setting.
# shellcheck disable=SC2046 # a word a setting
exec postgres -D "$cluster" --port="${DATABASE_PORT:-5432}" --listen_addresses="${DATABASE_LISTEN:-*}" --unix_socket_directories=. \
  $(sed -n 's/^\([a-z_.]*\) = \(.*\)$/--\1=\2/p' "$settings")
