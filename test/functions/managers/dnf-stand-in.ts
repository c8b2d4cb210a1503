import { existsSync } from 'node:fs'
import { appendFile, chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { managerText } from '../../../functions/managers/managed-scripts.ts'
import { programs, shell } from '../programs.ts'

/*
 * Programs that answer as dnf 4.14 and dnf5 5.4.6 do: what they print was recorded from the real ones over a local
 * repository. Each call is written into `calls`; an answer comes from the file `answer.<key>` and its code from
 * `code.<key>`. `sleep` takes no time.
 */

/** dnf5. A run prints its table, asks, reads one line, and goes on only after `y`. */
const DNF5 = `echo "$*" >>"$FOLDER/calls"
case "$*" in
  *makecache*) key=\${*##*--repo=}; key=makecache-\${key%% *} ;;
  *'repo list'*) key=list ;;
  *'repo info'*) key=info ;;
  *'repoquery --available'*) key=available ;;
  *'disable_excludes=*'*) key=every ;;
  *repoquery*) key=seen ;;
  *advisory*) key=advisory ;;
  *check*) key=check ;;
  *--assumeno*) key=table ;;
  *) key=run ;;
esac
turn=$(cat "$FOLDER/turn.$key" 2>/dev/null || echo 0)
echo "$((turn + 1))" >"$FOLDER/turn.$key"
[ ! -e "$FOLDER/answer.$key.$turn" ] || key=$key.$turn
cat "$FOLDER/messages" >&2 2>/dev/null
cat "$FOLDER/answer.$key" 2>/dev/null
case $key in table*) ! grep -q '^Nothing to do' "$FOLDER/answer.$key" || exit 0; exit 1 ;; run*) ;; *) exit "$(cat "$FOLDER/code.$key" 2>/dev/null || echo 0)" ;; esac
[ ! -e "$FOLDER/silent" ] || exit "$(cat "$FOLDER/code.run" 2>/dev/null || echo 0)"
printf 'Total size of inbound packages is 6 KiB. Need to download 6 KiB.\\nIs this ok [y/N]: ' >&2
read -r answer
echo "answer $answer" >>"$FOLDER/calls"
if [ "$answer" != y ]; then
  echo 'Operation aborted by the user.' >&2
  exit 1
fi
while read -r key; do echo "key $key" >>"$FOLDER/calls"; done
if [ -e "$FOLDER/cut" ]; then
  echo 'Failed to download packages' >&2
  exit 1
fi
echo 'Running transaction' >&2
exit "$(cat "$FOLDER/code.run" 2>/dev/null || echo 0)"`

/** The interpreter of dnf 4: the words after the program, of which the verb is the first, tell the answer. */
const PYTHON = `shift 2
program=$1
shift
echo "$*" >>"$FOLDER/calls"
busy=$(cat "$FOLDER/busy" 2>/dev/null || echo 0)
if [ "$busy" -gt 0 ]; then
  echo "$((busy - 1))" >"$FOLDER/busy"
  case $1 in run | upgrade) ;; *) printf 'locked\\ncode\\t200\\n' ;; esac
  exit 200
fi
cat "$FOLDER/answer.$1" 2>/dev/null
exit "$(cat "$FOLDER/code.$1" 2>/dev/null || echo 0)"`

const RPM = `case "$*" in
  -Va*) cat "$FOLDER/answer.va" 2>/dev/null; exit "$(cat "$FOLDER/code.va" 2>/dev/null || echo 0)" ;;
  -qa*'had '*) cat "$FOLDER/installed" 2>/dev/null | awk '{ print "had", $1, $3, 10 }' ;;
  -qa*'is '*) cat "$FOLDER/installed" 2>/dev/null | awk '{ print "is", $0 }' ;;
  -q*) for name; do :; done; grep -q "^$name " "$FOLDER/installed" ;;
esac`

/** The shells that a target may have. */
export const SHELLS = ['sh', ...(existsSync('/bin/busybox') ? ['/bin/busybox sh'] : [])]

/** A target with dnf 4 or dnf5. */
export async function dnfWith(version: 4 | 5, sh = 'sh') {
  const { folder, env } = await programs({ dnf5: DNF5, python3: PYTHON, rpm: RPM, sleep: 'exit 0' })
  const place = (name: string) => join(folder, name)
  await writeFile(
    place('dnf'),
    version === 5 ? `#!/bin/sh\nexec dnf5 "$@"\n` : `#!${place('python3')} -s\nimport dnf\n`,
  )
  await chmod(place('dnf'), 0o755)
  await appendFile(place('calls'), '')
  const text = `manager=dnf sudo=\n${managerText('dnf')}\ndnf_cache() { echo "$FOLDER/cache"; }\n`
  await writeFile(place('text'), text)
  return {
    folder,
    write: (name: string, content: string) => writeFile(place(name), content),
    calls: async () => (await readFile(place('calls'), 'utf8')).split('\n').slice(0, -1),
    /** Runs a command after the functions of dnf. */
    ask: (command: string) =>
      shell({ ...env, TMPDIR: folder }, `exec ${sh} -c '. "$FOLDER/text"; eval "$1"' name "$1"`, command),
  }
}

/** The table that dnf5 shows before it asks, over packages that were made for it. */
export const TABLE = `Updating and loading repositories:
Repositories loaded.
Package                Arch   Version Repository      Size
Upgrading:
 rig-conf              noarch 0:2.0-1 rig          4.0   B
   replacing rig-conf  noarch 0:1.0-1 <unknown>    4.0   B
 rig-epoch             noarch 1:0.5-1 rig          6.0   B
   replacing rig-epoch noarch 0:1.0-1 <unknown>    4.0   B
Installing:
 kernel-core           noarch 0:3.0-1 rig          4.0   B
Installing dependencies:
 rig-new               noarch 0:1.0-1 rig          4.0   B
Skipping packages with broken dependencies:
 rig-dep               noarch 2.0-1   rig          4.0   B

Transaction Summary:
 Installing:         2 packages
 Upgrading:          2 packages
 Replacing:          2 packages
 Skipping:           1 package

`

/** The lines of the hash of a plan of `TABLE`. */
export const LINES = [
  'install kernel-core:noarch - 3.0-1',
  'install rig-new:noarch - 1.0-1',
  'upgrade rig-conf:noarch 1.0-1 2.0-1',
  'upgrade rig-epoch:noarch 1.0-1 1:0.5-1',
]

/** The same upgrade where two packages drive out others. */
export const OBSOLETING = `Package                Arch   Version Repository      Size
Upgrading:
 rig-obs               noarch 0:2.0-1 rig          4.0   B
   replacing rig-obs   noarch 0:1.0-1 <unknown>    4.0   B
   replacing rig-other noarch 0:1.0-1 <unknown>    4.0   B
Installing:
 rig-replace           noarch 0:1.0-1 rig          4.0   B
   replacing rig-gone  noarch 0:1.0-1 <unknown>    4.0   B
Removing dependent packages:
 rig-needs-gone        x86_64 0:1.0-1 rig          4.0   B

Transaction Summary:
 Installing:         1 package
 Upgrading:          1 package
 Replacing:          3 packages
 Removing:           1 package

`
