#!/bin/sh
# Starts PostgreSQL in a container, and makes the cluster and an empty database before the first start. The owner's password is in a
# file; those of other roles come with the migration. Every client of the network needs a password.
set -eu
cluster=${DATABASE_DATA:-/data}/cluster
password=${DATABASE_PASSWORD_FILE:-/run/secrets/owner.password}
here=$(dirname "$0")
settings=${DATABASE_SETTINGS:-$here/postgresql.conf}

# Under another name until it is whole: a container may be ended at any time.
if [ ! -e "$cluster" ]; then
  rm -rf "$cluster.new"
  initdb -D "$cluster.new" -U restbench_owner --pwfile="$password" --auth=scram-sha-256 -E UTF8 --locale=C.UTF-8 --data-checksums
  echo 'host all all samenet scram-sha-256' >> "$cluster.new/pg_hba.conf"
  printf '%s\n' 'CREATE DATABASE restbench' 'REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC' | postgres --single -c exit_on_error=true -D "$cluster.new" postgres
  mv "$cluster.new" "$cluster"
fi

# A setting is a line `name = value` there.
# shellcheck disable=SC2046 # a word a setting
exec postgres -D "$cluster" --port="${DATABASE_PORT:-5432}" --listen_addresses="${DATABASE_LISTEN:-*}" --unix_socket_directories=. \
  $(sed -n 's/^\([a-z_.]*\) = \(.*\)$/--\1=\2/p' "$settings")
