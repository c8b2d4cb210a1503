import { authorizedLine, type Host, KEY_OPTIONS, SshError, type SshKey, script } from '../../ssh/ssh.ts'

/** Why the account's `authorized_keys` was not changed. */
export type Obstacle = 'folder' | 'file' | 'large' | 'write' | 'changed' | 'options'

/**
 * `AUTHORIZED_KEYS show|add|remove <pattern> [<line>]` runs as the account whose keys they are, and writes one word, or
 * the found line. The file is replaced as a whole, by a copy with its owner, mode and attributes: a crash leaves the old
 * or the new one. Anything but a plain file of the account itself is left alone.
 */
export const AUTHORIZED_KEYS = `
export LC_ALL=C
umask 077
action=$1 pattern=$2 line=\${3-}
folder=$HOME/.ssh file=$HOME/.ssh/authorized_keys
say() { printf '\\n%s\\n' "$1"; exit 0; }
state() { stat -c '%i %s %y %z' -- "$file" 2>/dev/null || echo none; }
if [ "$action" = add ] && [ ! -e "$folder" ] && [ ! -L "$folder" ]; then mkdir -m 700 -- "$folder" 2>/dev/null || say folder; fi
if [ ! -e "$folder" ] && [ ! -L "$folder" ]; then say absent; fi
[ -d "$folder" ] && [ ! -L "$folder" ] && [ -O "$folder" ] && [ -w "$folder" ] || say folder
before=$(state)
if [ -e "$file" ] || [ -L "$file" ]; then
  [ -f "$file" ] && [ ! -L "$file" ] && [ -O "$file" ] && [ -r "$file" ] || say file
  [ "$(stat -c %s -- "$file")" -lt 1048577 ] || say large
  found=$(grep -am 1 -E -e "$pattern" -- "$file" | tr -d '\\000' | head -c 4096)
elif [ "$action" = add ]; then found=
else say absent
fi
case $action in
  show) [ -n "$found" ] || say absent; say "found $found" ;;
  add) [ -z "$found" ] || say present ;;
  remove) [ -n "$found" ] || say absent ;;
esac
find "$folder" -maxdepth 1 -type f -name '.ops-panel.??????' -mmin +10 -delete 2>/dev/null
new=$(mktemp "$folder/.ops-panel.XXXXXX" 2>/dev/null) || say write
trap 'rm -f -- "$new"' EXIT
trap 'exit 1' HUP INT TERM
if [ "$before" != none ]; then cp --preserve=all -- "$file" "$new" || say write; fi
if [ "$action" = add ]; then
  last=$(tail -c 1 -- "$new" | od -An -tx1 | tr -d ' \\n')
  if [ -n "$last" ] && [ "$last" != 0a ]; then echo >>"$new" || say write; fi
  printf '%s\\n' "$line" >>"$new" || say write
else
  grep -av -E -e "$pattern" -- "$file" >"$new"
  [ $? -lt 2 ] || say write
fi
sync -- "$new" 2>/dev/null
[ "$(state)" = "$before" ] || say changed
mv -fT -- "$new" "$file" || say write
sync -- "$folder" 2>/dev/null
trap - EXIT
if [ "$action" = add ]; then say added; else say removed; fi
`

/** Matches the lines of `authorized_keys` that let a key in, with any options and comment; comments do not. */
export function linePattern({ publicKey }: Pick<SshKey, 'publicKey'>): string {
  const [type = '', blob = ''] = publicKey.split(' ')
  const escaped = blob.replaceAll('+', '[+]')
  return `^[[:blank:]]*([^#[:blank:]].*[[:blank:]])?${type}[[:blank:]]+${escaped}([[:blank:]][^"]*)?$`
}

/** A person waits; the work itself takes milliseconds. */
const WRITE_MS = 20_000
/** Attempts when another program changes the file at the same moment. */
const ATTEMPTS = 3

/**
 * Adds the line of a key for the service account itself, over the connection that works now. The line has the options of
 * `present`, the key that it shall replace, if the file has that one.
 */
export async function addKey(
  host: Host,
  key: SshKey,
  present: SshKey | undefined,
): Promise<{ line: string; obstacle?: Obstacle }> {
  const options = present && (await optionsOf(host, present))
  if (options === 'unclear') return { line: authorizedLine(key), obstacle: 'options' }
  const line = authorizedLine(key, options ?? KEY_OPTIONS)
  const word = await edit(host, 'add', key, line)
  return word === 'added' || word === 'present' ? { line } : { line, obstacle: obstacleOf(word) }
}

/** Removes every line of a key; returns whether the file had one. */
export async function removeKey(host: Host, key: Pick<SshKey, 'publicKey'>): Promise<'removed' | 'absent' | Obstacle> {
  const word = await edit(host, 'remove', key)
  return word === 'removed' || word === 'absent' ? word : obstacleOf(word)
}

/** Returns the options of a key's line as they are; undefined when there is no such line. */
async function optionsOf(host: Host, key: SshKey): Promise<string | 'unclear' | undefined> {
  const found = /^found (.*)$/.exec(await ask(host, 'show', key))?.[1]
  if (found === undefined) return undefined
  const end = found.search(/(^|[ \t])ssh-ed25519[ \t]+AAAA[\w+/=]+([ \t][^"]*)?$/)
  const options = end < 0 ? undefined : found.slice(0, end).trim()
  return options !== undefined && /^[\x20-\x7e]{0,2000}$/.test(options) ? options : 'unclear'
}

async function edit(host: Host, action: 'add' | 'remove', key: Pick<SshKey, 'publicKey'>, line?: string) {
  for (let attempt = 1; ; attempt += 1) {
    const word = await ask(host, action, key, line)
    if (word !== 'changed' || attempt === ATTEMPTS) return word
  }
}

async function ask(host: Host, action: string, key: Pick<SshKey, 'publicKey'>, line?: string): Promise<string> {
  const words = [action, linePattern(key), ...(line === undefined ? [] : [line])]
  const command = script(AUTHORIZED_KEYS, 'ops-panel-authorized-keys', ...words)
  const { code, stdout } = await host.exec(command, { timeoutMs: WRITE_MS })
  // Start-up files may write before.
  const word = stdout.trimEnd().split('\n').at(-1)?.trim() ?? ''
  if (code !== 0 || word === '') throw new SshError('lost', 'le compte n’a pas pu lire ses clés (authorized_keys)')
  return word
}

function obstacleOf(word: string): Obstacle {
  return (['folder', 'file', 'large', 'changed'] as const).find((each) => each === word) ?? 'write'
}

const WHY: Record<Obstacle, string> = {
  folder: 'son dossier .ssh manque, est un lien, ou n’est pas à lui',
  file: 'son fichier authorized_keys est un lien ou n’est pas à lui',
  large: 'son fichier authorized_keys a plus d’un mébioctet',
  write: 'il n’a pas pu écrire son fichier authorized_keys',
  changed: 'un autre programme modifie sans cesse son fichier authorized_keys',
  options: 'la ligne de la clé actuelle a des options qui ne peuvent pas être reprises telles quelles',
}

/** Returns why the account did not add the line itself, in French. */
export function whyNot(obstacle: Obstacle | 'elsewhere'): string {
  if (obstacle === 'elsewhere')
    return 'l’hôte refuse la clé ajoutée à son fichier ~/.ssh/authorized_keys (sshd lit peut-être un autre fichier : AuthorizedKeysFile)'
  return WHY[obstacle]
}
