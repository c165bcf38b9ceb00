#!/bin/sh
# Installs what package-lock.json names into a folder of its own, named by what is
# in that file, and prints where it is. Nothing is installed twice.
set -eu
cd "$(dirname "$0")"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/conclave-test"
dir="$cache/agents-$(sha256sum package-lock.json | cut -c1-12)"
if ! test -d "$dir"; then
	command -v npm >/dev/null || { echo "npm is not installed" >&2; exit 1; }
	mkdir -p "$cache"
	new=$(mktemp -d "$cache/new-XXXXXX")
	trap 'rm -rf "$new"' EXIT
	cp package.json package-lock.json "$new"
	# Their own scripts are not run: each has its program in a package of its own.
	(cd "$new" && npm install --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error >&2)
	mv -T "$new" "$dir" 2>/dev/null || test -d "$dir" # somebody else was faster
fi
echo "$dir"
