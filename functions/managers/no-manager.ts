import { type Finding, findingOf } from '../findings/finding.ts'
import { withoutControls } from './sections.ts'

/*
 * A target without a manager that this service knows: which system it is, and what it upgrades itself with. yum 4 is a
 * link to dnf 4, and the microdnf of today one to dnf5, so where they stand alone they are yum 3, whose systems get no
 * more updates, and the microdnf of libdnf, which has no simulation and asks nothing before its version 3.6.
 */

/** Programs that upgrade a system, the ones that say most about it first. */
const OTHERS = [
  'microdnf',
  'yum',
  'nixos-rebuild',
  'rpm-ostree',
  'guix',
  'emerge',
  'xbps-install',
  'eopkg',
  'swupd',
  'opkg',
  'slackpkg',
  'urpmi',
] as const

/**
 * Where `$manager` is `none`, prints `system <name>` and `others <program>…`. NixOS may have no program but sh in `PATH`,
 * so it calls none. The host helper contains this text: any change of it needs a new `HELPER_VERSION`.
 */
export const TELL_OTHERS = `
if [ "$manager" = none ]; then
  while IFS== read -r key value; do
    [ "$key" != PRETTY_NAME ] || printf 'system %.200s\\n' "$value"
  done 2>/dev/null </etc/os-release
  others=
  for each in ${OTHERS.join(' ')}; do
    ! (PATH="$PATH:/run/current-system/sw/bin" && command -v "$each" >/dev/null 2>&1) || others="$others $each"
  done
  echo "others$others"
fi
`

const KNOWN = 'il sait se servir d’apt, d’apk, de dnf, de zypper et de pacman.'

/** Returns the finding of a target whose words are these; `system` is its name where it does not tell that. */
export function noManagerFinding(words: ReadonlyMap<string, string>, system?: string): Finding {
  const told = words.get('system')?.replace(/^["']|["']$/g, '')
  const name = (told || system || 'Linux').slice(0, 200)
  const known = new Set(words.get('others')?.split(' '))
  const other = OTHERS.find((each) => known.has(each))
  if (other === 'microdnf' || other === 'yum')
    return findingOf('manager_missing', {
      message: `${name} n’a que ${other}, avec lequel rien ne peut être prévu ni vérifié : installez dnf.`,
    })
  const lack = other === undefined ? 'n’a aucun gestionnaire de paquets que' : `se met à jour par ${other}, que`
  const verb = other === undefined ? 'connaît' : 'ne connaît pas'
  return findingOf('manager_missing', { message: `${name} ${lack} le panneau ${verb} : ${KNOWN}` })
}

/** Returns that finding if the output of a plan tells that the target has no manager. */
export function missingManager(text: string, system?: string): Finding | undefined {
  const lines = text.slice(0, 2_000).split('\n').map(withoutControls)
  if (!lines.includes('manager none')) return undefined
  const words = lines.flatMap((line) => {
    const [, word, rest] = /^(system|others) (.*)$/.exec(line) ?? []
    return word === undefined ? [] : [[word, rest ?? ''] as const]
  })
  return noManagerFinding(new Map(words), system)
}
