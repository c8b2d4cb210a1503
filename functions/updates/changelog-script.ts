import { downloads } from './fetch-script.ts'

/** Exit codes of `CHANGELOG`, apart from those of a shell, of the container tool and of the host helper. */
export const CHANGELOG_MISSING = 66
export const CHANGELOG_FAILED = 69

/** Bytes of text that the script prints. */
export const CHANGELOG_BYTES = 1024 * 1024
/** Largest package that is downloaded for its changelog. */
const MOST_PACKAGE = 64 * 1024 * 1024

/**
 * `CHANGELOG <package> <version>`, on the host or inside a container, as root or as an ordinary user: prints the
 * changelog of exactly that offered version. The first line is `repository`, or `package` where the repository has
 * none and the text comes from the downloaded package. Ends with 66 when there is none, and with 69 and a reason on
 * stderr when it cannot be had. Takes at most 55 s, no lock, and leaves nothing behind.
 */
export const CHANGELOG = `
export LC_ALL=C
package=$1 version=$2 name=\${1%%:*}
# The host helper passes on what an account says.
case $package in [!a-z0-9]* | *[!a-z0-9+.:-]*) exit ${CHANGELOG_MISSING} ;; esac
case $version in [!0-9A-Za-z]* | *[!0-9A-Za-z.+~:-]*) exit ${CHANGELOG_MISSING} ;; esac
command -v apt-get >/dev/null || exit ${CHANGELOG_MISSING}${downloads('ops-panel-changelog', CHANGELOG_FAILED)}
size=$(size_of "$package" "$version")
case $size in '' | *[!0-9]*) exit ${CHANGELOG_MISSING} ;; esac
if fetch 15 --download-only changelog "$package=$version"; then
  for file in *.changelog; do
    [ -f "$file" ] && [ ! -L "$file" ] || continue
    echo repository
    head -c ${CHANGELOG_BYTES} "$file"
    exit 0
  done
fi
if [ "\${#size}" -gt 8 ] || [ "$size" -gt ${MOST_PACKAGE} ]; then
  echo 'The repository has no changelog, and the package has more than ${MOST_PACKAGE / 1024 / 1024} MiB.' >&2
  exit ${CHANGELOG_FAILED}
fi
if ! fetch 20 download "$package=$version"; then
  grep '^E: ' "$folder/log" | head -n 1 | head -c 500 >&2
  exit ${CHANGELOG_FAILED}
fi
set -- ./*.deb
[ -f "$1" ] && [ ! -L "$1" ] || exit ${CHANGELOG_FAILED}
archive=$1
unpacked() { timeout -k 2 4 dpkg-deb --fsys-tarfile "$archive" 2>/dev/null; }
unpacked | tar -tf - 2>/dev/null >"$folder/members"
for place in changelog.Debian.gz changelog.gz changelog.Debian changelog; do
  for member in "./usr/share/doc/$name/$place" "usr/share/doc/$name/$place"; do
    grep -qxF -e "$member" "$folder/members" || continue
    case $place in *.gz) read='gunzip -c' ;; *) read=cat ;; esac
    unpacked | tar -xOf - "$member" 2>/dev/null | $read 2>/dev/null | head -c ${CHANGELOG_BYTES} >"$folder/text"
    [ -s "$folder/text" ] || break 2
    echo package
    cat "$folder/text"
    exit 0
  done
done
exit ${CHANGELOG_MISSING}
`
