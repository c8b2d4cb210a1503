import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { managerText } from '../../../functions/managers/managed-scripts.ts'
import { planHash } from '../../../functions/plans/plan.ts'
import { programs, shell } from '../programs.ts'

/*
 * A zypper and an rpm that answer as zypper 1.14.42 with libzypp 17.25.7 does on a host with a repository `rig`: the
 * XML, the exit codes, locks from the file that `ZYPP_CONF` names, and one call of rpm for each change. The solver is
 * tiny: an upgrade is made unless its name, a package that it needs, or one that it removes is locked.
 */

/** A package of the repository; `from` is the installed edition, if any. */
export interface Offer {
  name: string
  from?: string
  to: string
  needs?: string
  removes?: string
}

const ZYPPER = `echo "$*" >>"$FOLDER/calls"
verb=
for word; do
  case $word in -x | -n | --no-refresh) ;; *) verb=$word; break ;; esac
done
key=$verb
case "$verb $*" in update*--dry-run*) key=trial ;; refresh*) key=refresh-$(eval "echo \\$$#") ;; esac
[ ! -e "$FOLDER/meanwhile.$key" ] || . "$FOLDER/meanwhile.$key"
if [ -e "$FOLDER/answer.$key" ]; then
  cat "$FOLDER/answer.$key"
  exit "$(cat "$FOLDER/code.$key" 2>/dev/null || echo 0)"
fi
locks=/dev/null
[ -z "$ZYPP_CONF" ] || locks=$(sed -n 's/^locksfile.path = //p' "$ZYPP_CONF" | tail -n 1)
echo "$key: $(sed -n 's/^solvable_name: //p' "$locks" | sort | tr '\\n' ' ')" >>"$FOLDER/locked"
names=
case $* in *' -- '*) names=\${*#* -- } ;; esac
echo "<?xml version='1.0'?>"
echo '<stream>'
case $verb in
  update)
    awk -v names="$names" -v change="$FOLDER/change" '
      FILENAME == ARGV[1] { if ($1 == "solvable_name:") locked[$2]; next }
      FILENAME == ARGV[2] { installed[$1] = $2; next }
      { offer[++n] = $1; to[$1] = $2; needs[$1] = $3; removes[$1] = $4 }
      function possible(name) {
        return !(name in locked) && (removes[name] == "-" || !(removes[name] in locked)) &&
          (needs[name] == "-" || (needs[name] in installed) || ((needs[name] in to) && !(needs[name] in locked)))
      }
      function element(name, edition, old) {
        count++
        return "<solvable type=\\"package\\" name=\\"" name "\\" edition=\\"" edition "\\" arch=\\"noarch\\"" \\
          (old == "" ? "" : " edition-old=\\"" old "\\" arch-old=\\"noarch\\"") " summary=\\"made-up " name "\\">\\n<description>Made up &lt;b&gt;.</description></solvable>\\n"
      }
      END {
        m = split(names, word, " "); for (i = 1; i <= m; i++) asked[word[i]]
        for (i = 1; i <= n; i++) {
          name = offer[i]
          if (!(name in installed) || installed[name] == to[name] || (m && !(name in asked)) || !possible(name)) continue
          up = up element(name, to[name], installed[name]); print "U", name, to[name] >change
          if (needs[name] != "-" && !(needs[name] in installed) && !seen[needs[name]]++) {
            more = more element(needs[name], to[needs[name]], ""); print "U", needs[name], to[needs[name]] >change
          }
          if (removes[name] in installed) { away = away element(removes[name], installed[removes[name]], ""); print "e", removes[name] >change }
        }
        printf "<install-summary download-size=\\"%d\\" space-usage-diff=\\"%d\\" packages-to-change=\\"%d\\">\\n", count * 1000, -count, count
        if (up != "") printf "<to-upgrade>\\n%s</to-upgrade>\\n", up
        if (more != "") printf "<to-install>\\n%s</to-install>\\n", more
        if (away != "") printf "<to-remove>\\n%s</to-remove>\\n", away
        print "</install-summary>"
      }' "$locks" "$FOLDER/installed" "$FOLDER/offers"
    printf '<prompt id="0">\\n<text>Continue?</text>\\n<option default="1" value="y" desc="Yes &lt;b&gt;"/>\\n</prompt>\\n'
    if [ "$key" = update ] && [ -e "$FOLDER/change" ]; then
      while read -r how name edition; do
        case $how in
          U) set -- -U --percent --noglob --force --nodeps -- "/packages/$name=$edition" ;;
          e) set -- -e --nodeps -- "$name" ;;
        esac
        if ! told=$(rpm --root / --dbpath /var/lib/rpm "$@" 2>&1); then
          printf '<message type="error">Installation of %s failed:\\nError: Subprocess failed. Error: RPM failed: %s</message>\\n' "$name" "$told"
          exit 8
        fi
        case $how in
          U) printf '<progress id="install-resolvable" name="Installing: %s-%s.noarch" done="1"/>\\n' "$name" "$edition" ;;
          e) printf '<progress id="remove-resolvable" name="Removing: %s" done="1"/>\\n' "$name" ;;
        esac
      done <"$FOLDER/change"
    fi
    rm -f "$FOLDER/change"
    ;;
  *) echo '<message type="info">Loading repository data...</message>' ;;
esac
echo '</stream>'
exit "$(cat "$FOLDER/code.$key" 2>/dev/null || echo 0)"`

const RPM = `case " $* " in
  *' -qa '*ARCH*) sed 's/ .*/ noarch/' "$FOLDER/installed" ;;
  *' -qa '*) cat "$FOLDER/installed" ;;
  *' -Va '*) cat "$FOLDER/answer.rpm" 2>/dev/null; exit 1 ;;
  *' -U '*)
    echo "$*" >>"$FOLDER/rpm-calls"
    last=\${*##*/}
    grep -v "^\${last%=*} " "$FOLDER/installed" >"$FOLDER/next"
    echo "\${last%=*} \${last#*=}" >>"$FOLDER/next"
    mv "$FOLDER/next" "$FOLDER/installed"
    ;;
  *' -e '*)
    echo "$*" >>"$FOLDER/rpm-calls"
    grep -v "^\${*##* } " "$FOLDER/installed" >"$FOLDER/next"
    mv "$FOLDER/next" "$FOLDER/installed"
    ;;
  *) exit 1 ;;
esac`

const MKTEMP = `exec /usr/bin/mktemp -d "$FOLDER/work.XXXXXXXX"`

/** The offers of most tests: `c` needs a new package, `b` removes an old one. */
export const OFFERS: Offer[] = [
  { name: 'a', from: '1.0-1', to: '2.0-1' },
  { name: 'b', from: '1.0-1', to: '2.0-1', removes: 'old' },
  { name: 'c', from: '1.0-1', to: '1:2.0-1', needs: 'newdep' },
  { name: 'newdep', to: '1.0-1' },
  { name: 'lib+x', from: '1.0-1', to: '1.1-1' },
]

const stream = (text: string) => `<?xml version='1.0'?>\n<stream>\n${text}\n</stream>\n`
const updates = (elements: string[]) =>
  stream(`<update-status version="0.6">\n<update-list>\n${elements.join('')}</update-list>\n</update-status>`)
const updateOf = ({ name, from = '', to }: Offer) =>
  `<update kind="package" name="${name}" edition="${to}" arch="noarch" edition-old="${from}"><summary>made-up ${name}</summary><description>Made up.</description><license/><source url="file:/srv/rig/main" alias="rig"/></update>`

const PATCH = (name: string, category: string) =>
  `<update kind="patch" name="${name}" edition="1" arch="noarch" status="needed" category="${category}" severity="important" pkgmanager="false" restart="false" interactive="false"><summary>${name}</summary><description>Made up.</description><license/><source url="file:/srv/rig/main" alias="rig"/></update>`
export const PATCHES = updates([PATCH('RIG-2026-1', 'security'), PATCH('RIG-2026-2', 'recommended')])
/** \`zypper info\` of a patch that needs c from an edition on, and names a package that is not there. */
export const PATCH_INFO = `

Information for patch RIG-2026-1:
---------------------------------
Repository  : rig
Name        : RIG-2026-1
Status      : needed
Category    : security
Description : 
    Conflicts   : a < 9
Provides    : patch:RIG-2026-1 = 1
Conflicts   : [2]
    c < 1:2.0-1
    srcpackage:gone < 2.0-1
`

export interface StandIn {
  folder: string
  /** Runs a function of zypper and returns its lines and exit code. */
  ask(command: string): Promise<{ lines: string[]; status: number | null; ms: number }>
  /** Sets what zypper answers to a word, instead of what it would. */
  answer(key: string, text: string, code?: number): Promise<void>
  file(name: string): Promise<string>
  /** The temporary folders that are there now. */
  leftBehind(): Promise<string[]>
  write(name: string, text: string): Promise<void>
}

/** A host with these offers. `awk` and `sleep` are the texts of programs in place of this machine's. */
export async function zypperWith({
  offers = OFFERS,
  ...others
}: {
  offers?: Offer[]
  awk?: string
  sleep?: string
} = {}): Promise<StandIn> {
  const { folder, env } = await programs({
    zypper: ZYPPER,
    rpm: RPM,
    mktemp: MKTEMP,
    ...others,
  })
  const home = join(folder, 'home')
  await mkdir(home)
  const write = (name: string, text: string) => writeFile(join(folder, name), text)
  const installed = [...offers.flatMap(({ name, from }) => (from ? [`${name} ${from}`] : [])), 'old 1.0-1'].sort()
  await write('installed', `${installed.join('\n')}\n`)
  await write(
    'offers',
    `${offers.map((one) => `${one.name} ${one.to} ${one.needs ?? '-'} ${one.removes ?? '-'}`).join('\n')}\n`,
  )
  const answer = async (key: string, text: string, code = 0) => {
    await write(`answer.${key}`, text)
    await write(`code.${key}`, String(code))
  }
  await answer('list-updates', updates(offers.filter(({ from }) => from).map(updateOf)))
  await answer('list-patches', updates([]))
  await answer('locks', stream('<locks size="0"></locks>'))
  const text = `manager=zypper\n${managerText('zypper')}\n`
  return {
    folder,
    answer,
    write,
    ask: (command) => shell({ ...env, HOME: home }, `${text}${command}`),
    leftBehind: async () => (await readdir(folder)).filter((name) => name.startsWith('work.')),
    file: (name) => readFile(join(folder, name), 'utf8').catch(() => ''),
  }
}

/** The lines `change` as the lines of a plan's hash. */
export const planned = (lines: readonly string[]) =>
  lines
    .map((line) => line.split('\t'))
    .filter(([word]) => word === 'change')
    .map(([, action, name, arch, from, to]) => `${action} ${name}:${arch} ${from} ${to}`)
    .sort()

export const hashOf = (lines: readonly string[]) => planHash(planned(lines))
