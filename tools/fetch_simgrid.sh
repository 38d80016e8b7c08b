#!/usr/bin/env bash
# SimGrid's headers, unpacked into a folder of our own: Debian's package of them wants another version of Boost than ours and
# cannot be installed beside it. Usage: fetch_simgrid.sh DIRECTORY. Without network or apt-get it says so and does nothing:
# the comparison is then left out.
set -euo pipefail
target=$1
[[ -e $target/usr/include/simgrid/s4u.hpp ]] && exit 0
mkdir -p "$target"
package=$(mktemp -d)
if ! (cd "$package" && apt-get -qq download libsimgrid-dev 2>/dev/null); then
  echo "fetch_simgrid: cannot download libsimgrid-dev; SimGrid is left out" >&2
  rm -rf "$package"
  exit 0
fi
dpkg -x "$package"/libsimgrid-dev_*.deb "$target"
library=$(dpkg-query -L libsimgrid3.32 2>/dev/null | grep -m 1 -E 'libsimgrid\.so\.[0-9.]+$' || true)
link=$(find "$target" -name libsimgrid.so -print -quit)
if [[ -n $library && -n $link ]]; then ln -sf "$library" "$link"; fi
rm -rf "$package"
