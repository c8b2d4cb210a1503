/** The progress that a line of apk, dnf, zypper or pacman tells. `at` is the position of a package among all `of` them. */
export interface ManagerStep {
  step: 'download' | 'unpack'
  name?: string
  at?: number
  of?: number
}

// Each with LC_ALL=C and without a terminal: dnf 4, dnf 5, then apk and zypper, which look alike.
const FORMS = [
  /^ {2}(?:Upgrading|Installing|Downgrading|Reinstalling|Obsoleting|Removing|Erasing|Cleanup) *: (?<name>\S+) +(?<at>\d{1,5})\/(?<of>\d{1,5})\s*$/,
  /^\[ *(?<at>\d{1,5})\/(?<of>\d{1,5})\] (?:Upgrading|Installing|Downgrading|Reinstalling|Removing) (?<name>\S+)/,
  /^\( *(?<at>\d{1,5})\/(?<of>\d{1,5})\) (?:Upgrading|Installing|Downgrading|Reinstalling|Replacing|Purging|Removing):? (?<name>\S+)/,
  /^\( *(?<at>\d{1,5})\/(?<of>\d{1,5})\) (?:upgrading|installing|downgrading|reinstalling|removing) (?<name>\S+)/,
]
const DOWNLOADS = [
  /^Retrieving(?: package)?:? (?<name>\S+) \((?<at>\d{1,5})\/(?<of>\d{1,5})\)/,
  /^\((?<at>\d{1,5})\/(?<of>\d{1,5})\): (?<name>\S+\.d?rpm)\b/,
]
const PACMAN_TOTAL = /^Packages \((\d{1,5})\) /
const PACMAN_STEP = /^(?:upgrading|installing|downgrading|reinstalling|removing) (\S+?)\.\.\.$/
const PACMAN_DOWNLOAD = /^ (\S+) downloading\.\.\.$/

/** Reads a line; undefined for one that says nothing about the progress. */
export function managerStep(line: string): ManagerStep | undefined {
  // A line of a package's script may be long.
  if (line.length > 1_000) return undefined
  const total = PACMAN_TOTAL.exec(line)?.[1]
  if (total !== undefined) return { step: 'download', of: Number(total) }
  const name = PACMAN_STEP.exec(line)?.[1]
  if (name !== undefined) return { step: 'unpack', name }
  const fetched = PACMAN_DOWNLOAD.exec(line)?.[1]
  if (fetched !== undefined) return { step: 'download', name: fetched }
  return counted(FORMS, 'unpack', line) ?? counted(DOWNLOADS, 'download', line)
}

function counted(forms: readonly RegExp[], step: ManagerStep['step'], line: string): ManagerStep | undefined {
  for (const form of forms) {
    const { name, at, of } = form.exec(line)?.groups ?? {}
    if (name !== undefined) return { step, name, at: Number(at), of: Number(of) }
  }
  return undefined
}

/** Whether a package manager other than apt reports a failure in this line. */
export function isManagerError(line: string): boolean {
  return /^(error|Error|ERROR): /.test(line)
}
