import { LINES_PER_TURN } from '../managers/sections.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createHash } from 'node:crypto'

/** Files of one application's code, and bytes of all of them. */
export const MOST_FILES = 20
export const MOST_BYTES = 1024 * 1024

/** Seconds for one file. */
const FILE_SECONDS = 20

/**
 * `fetch_code <address> <file>` puts what an address gives into a file, with this target's own curl or wget and, where the
 * community scripts have set one, its proxy. Sets `reply` to 404 for an address that has nothing, and fails then and
 * whenever it is not whole. `digest_of <file>` prints the SHA-256 of a file.
 */
export const FETCHING = `
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
unset TMPDIR TEMPDIR TMP TEMP
umask 077
set -a
[ ! -f /etc/profile.d/90-http-proxy.sh ] || . /etc/profile.d/90-http-proxy.sh >/dev/null 2>&1
set +a
program=$(command -v curl) || program=$(command -v wget) || program=
fetch_code() {
  reply=
  case $program in
    *curl)
      {
        "$program" -q -sSL --fail --proto '=http,https' --max-redirs 5 --connect-timeout 10 --max-time ${FILE_SECONDS} \\
          --max-filesize ${MOST_BYTES} -w '%{http_code}' -o /dev/fd/3 -- "$1" </dev/null 3>&1 >"$2.reply" 2>"$2.error"
        echo $? >"$2.code"
      } | head -c ${MOST_BYTES + 1} >"$2"
      reply=$(head -c 3 "$2.reply")
      ;;
    *wget)
      {
        "$program" -q -T 10 -O - -- "$1" </dev/null 2>"$2.error"
        echo $? >"$2.code"
      } | head -c ${MOST_BYTES + 1} >"$2"
      ;;
    *)
      echo 'neither curl nor wget is here' >"$2.error"
      return 1
      ;;
  esac
  [ "$(cat "$2.code" 2>/dev/null)" = 0 ] && [ -s "$2" ] && [ "$(wc -c <"$2")" -le ${MOST_BYTES} ]
}
digest_of() { sha256sum <"$1" | cut -d ' ' -f 1; }`

/**
 * `FETCH <address>…`, in a container, as root: prints, for each of these addresses, `file N SHA256` and what it gives in
 * base64, in lines with one leading space; `missing N` where it has nothing for anybody; `large N` where it does not fit
 * into what is left of the bytes of all; or `failed N REASON`. Then `end`. Runs and leaves nothing.
 */
export const FETCH = `${FETCHING}
folder=$(mktemp -d /tmp/ops-panel-source-XXXXXXXX) || exit 73
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' HUP INT TERM
number=0 left=${MOST_BYTES}
for address; do
  if fetch_code "$address" "$folder/file"; then
    size=$(wc -c <"$folder/file")
    if [ "$size" -le "$left" ]; then
      left=$((left - size))
      printf 'file %s %s\\n' "$number" "$(digest_of "$folder/file")"
      base64 <"$folder/file" | sed 's/^/ /'
    else
      echo "large $number"
    fi
  elif [ "$(cat "$folder/file.code" 2>/dev/null)" = 63 ] || [ "$(wc -c <"$folder/file")" -gt ${MOST_BYTES} ]; then
    echo "large $number"
  else
    case $reply in
      408 | 429) ;;
      4[0-9][0-9])
        echo "missing $number"
        number=$((number + 1))
        continue
        ;;
    esac
    why=$(tail -n 1 "$folder/file.error" 2>/dev/null | tr -c ' -~' '?' | cut -c 1-200)
    [ -n "$why" ] || why='it is empty'
    printf 'failed %s %s\\n' "$number" "$why"
  fi
  number=$((number + 1))
done
echo end
`

/** The answer of an address. */
export type Fetched =
  | { kind: 'file'; text: Buffer; digest: string }
  | { kind: 'missing' | 'large' }
  | { kind: 'failed'; reason: string }

/** Reads the output of `FETCH` for so many addresses; undefined where it is not whole, or does not keep its own digests. */
export async function readFetched(output: string, count: number): Promise<Fetched[] | undefined> {
  const fetched: Fetched[] = []
  let lines: string[] | undefined
  let digest = ''
  const close = () => {
    if (!lines) return true
    const text = Buffer.from(lines.join(''), 'base64')
    lines = undefined
    fetched.push({ kind: 'file', text, digest })
    return createHash('sha256').update(text).digest('hex') === digest
  }
  for (const [at, line] of output.split('\n').entries()) {
    if (at % LINES_PER_TURN === 0) await nextTurn()
    if (line.startsWith(' ')) {
      lines?.push(line.slice(1))
      continue
    }
    if (!close()) return undefined
    if (line === 'end') return fetched.length === count ? fetched : undefined
    const [word, number, rest = ''] = /^(\w+) (\d+)(?: (.*))?$/.exec(line)?.slice(1) ?? []
    if (Number(number) !== fetched.length) return undefined
    if (word === 'file') {
      lines = []
      digest = rest
    } else if (word === 'missing' || word === 'large') fetched.push({ kind: word })
    else if (word === 'failed') fetched.push({ kind: 'failed', reason: rest.slice(0, 200) })
    else return undefined
  }
  return undefined
}
