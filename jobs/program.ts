import { createHash } from 'node:crypto'
import { type Command, script } from '../ssh/ssh.ts'
import { FIND, PLACE } from './folder-script.ts'

/*
 * The program of a job: a text that is too long for an argument, which Linux limits to 128 KiB for all words of a
 * command that sshd runs. The service writes the program in pieces beside the place of the job's folder, and `START`
 * puts them together in the folder. The name of a piece contains the SHA-256 of the whole program, so pieces of two
 * versions of the service never mix.
 */

/** Most bytes of a piece. ssh2's server, which imitates a host in tests, takes 35,000 in one packet, quotes included. */
const PIECE = 24_000

/** The word of a job without a program. */
const NONE = '-'

/**
 * `forget_program <name>` removes the pieces of a job's program. `put_together <name> <program>` prints the program
 * from its pieces, which are in the account's folders; it fails where one is missing. `<program>` is
 * `<SHA-256>-<number of pieces>`.
 */
export const PROGRAM = `
forget_program() {
  for own in $(own_folders); do rm -f "$own/$1".program-*; done
}
put_together() {
  number=0
  while [ "$number" -lt "\${2##*-}" ]; do
    number=$((number + 1))
    for own in $(own_folders); do
      [ ! -f "$own/$1.program-$2-$number" ] || break
    done
    cat "$own/$1.program-$2-$number" || return
  done
}
`

/**
 * `PUT <name> <program> <number> <piece>` writes one piece of a job's program into a file of its own. A second call
 * writes the same file again. Does nothing where the job has been started. A failure removes all pieces of the job.
 */
export const PUT = `${FIND}${PLACE}${PROGRAM}
umask 077
place_job "$1"
[ ! -d "$job" ] || exit 0
piece=$job.program-$2-$3
if ! { printf %s "$4" >"$piece.$$" && mv "$piece.$$" "$piece"; }; then
  forget_program "$1"
  echo "$job: the program of the job cannot be written (is the disk full?)" >&2
  exit 75
fi
`

/**
 * Returns the word for `START` that names a program, and the commands that write its pieces before. Without a program
 * there are none.
 */
export function programOf(name: string, program: string | undefined): { word: string; puts: Command[] } {
  if (program === undefined) return { word: NONE, puts: [] }
  const pieces = piecesOf(Buffer.from(program))
  const word = `${createHash('sha256').update(program).digest('hex')}-${pieces.length}`
  const puts = pieces.map((piece, at) => script(PUT, 'ops-panel-program', name, word, String(at + 1), piece))
  return { word, puts }
}

/** Cuts a text into pieces, between two characters. */
function piecesOf(bytes: Buffer): string[] {
  const pieces: string[] = []
  for (let from = 0; from < bytes.length; ) {
    let to = Math.min(from + PIECE, bytes.length)
    while (((bytes[to] ?? 0) & 0xc0) === 0x80) to -= 1
    pieces.push(bytes.toString('utf8', from, to))
    from = to
  }
  return pieces
}
