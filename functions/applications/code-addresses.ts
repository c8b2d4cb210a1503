/*
 * Finds what a shell script loads as code from the network, by its text. The scripts do so with `source <(curl …)`,
 * `bash -c "$(curl …)"`, `curl … | bash` and their kin. A text cannot tell all of it: what is missed here, a run refuses
 * (run-script.ts) as far as it can recognise it.
 */
import { ADDRESS, LONGEST_ADDRESS } from './community-look.ts'

/** The code that a script loads. */
export interface LoadedCode {
  /** Addresses that the text tells whole. */
  addresses: string[]
  /** Addresses of which only parts are known before the run, with `*` for the rest, as a pattern of the shell. */
  patterns: string[]
}

/** Lines of one script, and characters of one line that are looked at. */
const MOST_LINES = 20_000
const LONGEST_LINE = 2_000
/** Characters before a download in which the command that runs it is looked for. */
const LONGEST_BEFORE = 300
/** Addresses and patterns of one script. */
const MOST = 200
/** Downloads of one script and of one line, and words of one download: a container may give any text. */
const MOST_DOWNLOADS = 3_000
const MOST_OF_LINE = 20
const MOST_WORDS = 60

/** Names of variables and their values, as far as the text tells them. */
export type Variables = Map<string, string | null>

const ASSIGNMENT =
  /^\s*(?:export\s+|readonly\s+|local\s+|declare\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;"']*)\s*(?:;|$|#)/
/** A command that runs the output of the download behind it. */
const BEFORE =
  /(?:(?:^|[\s;&|({])(?:source|\.)\s+<\(|(?:ba|da|a|z|k)?sh\s+(?:-\S+\s+)*<\(|(?:ba|da|a|z|k)?sh\s+(?:-\S+\s+)*-\w*c\s+["']?\$\(|eval\s+["']?\$\(|<<<\s*["']?\$\()\s*(?:\$STD\s+)?$/
/** A command that runs the output of the download before it. The community scripts write `$STD` before most commands. */
const AFTER =
  /^\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+)?(?:\w+=\S*\s+)*(?:\$\{?\w+\}?\s+)?(?:\/\S*\/)?(?:(?:ba|da|a|z|k)?sh|python3?|perl|php|node|ruby)(?=\s|[;)&|]|$)/
const DOWNLOAD = /(?<![\w./-])(?:curl|wget)(?:_\w+)?(?=\s)/g
/** Files that are code whatever is done with them. */
const CODE_FILE = /\.(?:sh|func|bash)$/

/** Finds the code that a script loads; `known` has the variables of the scripts that load it, and gets those of this one. */
export function codeIn(text: string, known: Variables = new Map()): LoadedCode {
  const addresses = new Set<string>()
  const patterns = new Set<string>()
  let left = MOST_DOWNLOADS
  const lines = text.replaceAll('\\\n', ' ').split('\n', MOST_LINES)
  for (const full of lines) {
    const line = full.slice(0, LONGEST_LINE)
    if (/^\s*#/.test(line)) continue
    assign(line, known)
    for (const download of [...line.matchAll(DOWNLOAD)].slice(0, Math.min(MOST_OF_LINE, left))) {
      left -= 1
      const words = line.slice(download.index)
      const { address, rest, isNamed } = addressIn(words)
      if (address === undefined) continue
      const { value, isWhole } = expanded(address, known)
      const isRun =
        BEFORE.test(line.slice(Math.max(0, download.index - LONGEST_BEFORE), download.index)) ||
        rest.some((each) => AFTER.test(each))
      if (!isRun && !isNamed && !CODE_FILE.test(value)) continue
      if (isWhole && value.length <= LONGEST_ADDRESS && ADDRESS.test(value)) addresses.add(value)
      else {
        const whole = value.replace(/[^A-Za-z0-9._~%+@,:/=&#-]+/g, '*')
        // The end of a pattern that was cut is any text.
        const pattern = whole.length > LONGEST_ADDRESS ? `${whole.slice(0, LONGEST_ADDRESS - 1)}*` : whole
        if (/[^*]{4}/.test(pattern)) patterns.add(pattern)
      }
    }
  }
  return { addresses: [...addresses].slice(0, MOST), patterns: [...patterns].slice(0, MOST) }
}

/** A variable with two values has none: which one it is depends on the run. */
function assign(line: string, known: Variables): void {
  const [, name, word = ''] = ASSIGNMENT.exec(line) ?? []
  if (name === undefined) return
  const bare = word.replace(/^["']|["']$/g, '')
  const { value, isWhole } = word.startsWith("'") ? { value: bare, isWhole: true } : expanded(bare, known)
  const former = known.get(name)
  // `A="${A:-default}"` keeps a value that it has.
  const isSame = former === undefined || former === value
  // A longer one is a part of no address, and many of them would fill the memory.
  known.set(name, isWhole && isSame && value.length <= LONGEST_ADDRESS ? value : null)
}

/** The options of curl and wget whose next word is no address. */
const TAKES_WORD =
  /^(?:-[A-Za-z#0-9]*[AbcCdDeEFHKmoPrTuUwxXyYzO]|--(?:output|header|data\S*|proxy|user|user-agent|referer|retry\S*|connect-timeout|max-time|request|write-out|cookie\S*|form|output-document|timeout|tries|directory-prefix))$/

/**
 * The address of a download, as the script writes it, what follows each `|` after it within the same command, and whether
 * it goes into a file that is named as code. `-O` takes a word of wget alone.
 */
function addressIn(text: string): { address: string | undefined; rest: string[]; isNamed: boolean } {
  const isCurl = text.startsWith('curl')
  let address: string | undefined
  let at = 0
  // A word may have several parts, such as `"${URL}"/file`.
  const word = /\s*(?:((?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\{[^}]*\}|\$\([^)]*\)|[^\s"'|;&)<>])+)|([|;&)<>]))/y
  let skips = false
  let isNamed = false
  for (let words = 0; words < MOST_WORDS; words += 1) {
    word.lastIndex = at
    const [whole, written, end] = word.exec(text) ?? []
    if (whole === undefined || end !== undefined) break
    at = word.lastIndex
    const value = (written ?? '').replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, '$1$2')
    if (skips) {
      skips = false
      isNamed ||= CODE_FILE.test(value)
    } else if (value.startsWith('-')) skips = TAKES_WORD.test(value) && !(isCurl && /^-\w*O$/.test(value))
    else if (address === undefined && /^(?:https?:\/\/|\$\{?[A-Za-z_])/.test(value)) address = value
  }
  const left = text.slice(at)
  isNamed ||= /(?:^|[\s\d])>{1,2}\s*["']?[^\s"']*\.(?:sh|func|bash)(?=["'\s]|$)/.test(left.split(/[;|]|&&/, 1)[0] ?? '')
  return { address, rest: left.split('|').slice(1, 4), isNamed }
}

/** Puts the known variables into a word; `*` stands for what is not known, and for the end of a long one. */
function expanded(word: string, known: Variables): { value: string; isWhole: boolean } {
  let isWhole = true
  const unknown = () => {
    isWhole = false
    return '*'
  }
  let value = word
  // From the inside: `${A:-${B:-default}}`. Each round resolves one.
  for (let round = 0; round < 20 && value.includes('$'); round += 1) {
    const next = value.replace(
      /\$\{([A-Za-z_]\w*)(?::?-([^${}]*))?\}|\$([A-Za-z_]\w*)/,
      (_, named: string | undefined, otherwise: string | undefined, plain: string | undefined) => {
        const found = known.get(named ?? plain ?? '')
        return (found === undefined ? otherwise : found) ?? unknown()
      },
    )
    if (next === value) break
    value = next
    // Variables with several others in each would grow without bound.
    if (value.length > LONGEST_LINE) {
      isWhole = false
      value = `${value.slice(0, LONGEST_LINE)}*`
    }
  }
  if (/[$`?[\]*\\()]/.test(value)) {
    isWhole = false
    value = value.replace(/\$\{[^}]*\}|\$\([^)]*\)|[$`?[\]*\\()]/g, '*').replace(/\*+/g, '*')
  }
  return { value, isWhole }
}
