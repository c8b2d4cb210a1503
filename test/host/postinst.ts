import { type Place, rig } from './rig.ts'

/** Replaces the postinst of rig-slow 2.0 there, and updates the repository's index, until the next reset. */
export async function replacePostinst(place: Place, postinst: string): Promise<void> {
  await rig('in', place, 'sh', '-ec', REPLACE, 'replace', postinst)
}

/** Builds the package and the index as rig/packages does. */
const REPLACE = `
cd /srv/rig/main
size() { stat -c %s "$1"; }
hash() { sha256sum <"$1" | cut -d' ' -f1; }
dpkg-deb -R rig-slow_2.0_all.deb /tmp/rig-slow
printf '%s' "$1" >/tmp/rig-slow/DEBIAN/postinst
dpkg-deb --root-owner-group -Zgzip -z1 -b /tmp/rig-slow rig-slow_2.0_all.deb
rm -r /tmp/rig-slow
for deb in *.deb; do
  dpkg-deb -f "$deb"
  printf '%s\\n' "Filename: ./$deb" "Size: $(size "$deb")" "SHA256: $(hash "$deb")" ''
done >Packages
sed -i "s/^ .* Packages$/ $(hash Packages) $(size Packages) Packages/" Release
`

/** For printf: é, an invalid byte, a truncated character, a four-byte character, and one cut off by the line end. */
export const NO_TEXT = String.raw`\303\251\377\342\202\360\237\230\200\303`

/**
 * Returns a postinst that prints `lines` lines, `seconds` apart, each ending with `bytes` (octal escapes of printf). It
 * waits before the last line while /etc/rig/hold exists.
 */
export function slowPostinst({ lines, seconds, bytes = '' }: { lines: number; seconds: number; bytes?: string }) {
  return `#!/bin/sh
[ "$1" = configure ] && [ -n "$2" ] || exit 0
for line in $(seq ${lines}); do
  while [ "$line" = ${lines} ] && [ -e /etc/rig/hold ]; do sleep 0.05; done
  printf 'rig-slow: step %s of ${lines}${bytes}\\n' "$line"
  sleep ${seconds}
done
`
}
