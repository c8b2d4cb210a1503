import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Check } from '../../nouns/checked.ts'
import { bytes } from '../../nouns/format.ts'
import { isApt } from '../../nouns/manager.ts'
import { BlockableButton } from '../../parts/blockable-button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useLoad } from '../../wire/load.ts'
import { loadPackages, type Package } from '../../wire/packages.ts'
import { isAdmin } from '../../wire/panel.ts'
import { language, words } from '../../words/words.ts'
import { Changelog } from '../../parts/changelog.tsx'
import { filtered, PackageFilter } from '../../parts/package-filter.tsx'
import { Versions, Vulnerabilities } from '../../parts/package-parts.tsx'
import { SecurityTag } from '../../parts/security-tag.tsx'
import type { Deeds } from './deeds.ts'

interface PackageTableProps {
  /** The check whose packages these are; a new one reloads the list. */
  check: Check
  label: string
  deeds: Deeds
}

/** The packages of a target by what an upgrade does with them, each with its versions, vulnerabilities and changelog. */
export function PackageTable({ check, label, deeds }: PackageTableProps) {
  const { target, checked_at: at } = check
  const load = useLoad((signal) => loadPackages(target, signal), [target, at])
  return (
    <Loaded of={load}>{(packages) => <Groups check={check} packages={packages} label={label} deeds={deeds} />}</Loaded>
  )
}

const KINDS = ['planned', 'removal', 'held', 'phased', 'waiting'] as const

function kindOf({ status, reason }: Package): (typeof KINDS)[number] {
  if (status === 'kept_back') return reason === 'kept_back_remove' ? 'removal' : 'waiting'
  return status
}

interface GroupsProps {
  check: Check
  packages: readonly Package[]
  label: string
  deeds: Deeds
}

function Groups({ check, packages, label, deeds }: GroupsProps) {
  const say = words().updates
  const filter = useSignal('')
  const shown = filtered(packages, filter.value)
  return (
    <section class="packages" aria-label={label}>
      <PackageFilter of={filter} count={packages.length} />
      {packages.length > 0 && shown.length === 0 && <p class="dim">{say.noMatch}</p>}
      {KINDS.map((kind) => {
        const own = shown.filter((one) => kindOf(one) === kind)
        if (own.length === 0) return null
        return (
          <section key={kind} class={kind === 'removal' ? 'removals' : undefined}>
            <h3>
              {say.kinds[kind]} <span class="dim num">{own.length}</span>
            </h3>
            <p class="dim small">{say.kindReasons[kind]}</p>
            <ul class="names">
              {own.map((one) => (
                <PackageRow key={`${one.name}:${one.arch} ${one.action}`} check={check} of={one} deeds={deeds} />
              ))}
            </ul>
          </section>
        )
      })}
    </section>
  )
}

function PackageRow({ check, of: one, deeds }: { check: Check; of: Package; deeds: Deeds }) {
  const { target } = check
  const { updates: say, shell } = words()
  const isOpen = useSignal(false)
  const showsAll = useSignal(false)
  const id = useId()
  const { name, arch, action, from, to, size, security, cves, status } = one
  const exploited = cves.some((cve) => cve.known_exploited) ? 1 : 0
  return (
    <li class={action === 'remove' ? 'is-removed' : undefined}>
      <span class="pn" title={`${name}:${arch}`}>
        {name}
      </span>
      <Versions of={one} />
      {action !== 'upgrade' && <span class={action === 'install' ? 'tag' : 'tag err'}>{say.actions[action]}</span>}
      <SecurityTag count={security ? 1 : 0} exploited={exploited} word />
      <span class="size dim num">{size === null ? '' : bytes(size, shell.units.bytes, language())}</span>
      {isAdmin.value && isApt(check) && from !== null && action !== 'remove' && (
        <HoldButton target={target} name={name} isHeld={status === 'held'} deeds={deeds} />
      )}
      {isApt(check) && to !== null && (
        <button
          type="button"
          class="button plain small"
          aria-expanded={isOpen.value}
          aria-controls={id}
          aria-label={say.changelogOf(name)}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          {say.changelog}
        </button>
      )}
      <Vulnerabilities cves={cves} all={showsAll.value} showAll={() => (showsAll.value = true)} />
      {isOpen.value && to !== null && (
        <div class="changelog" id={id}>
          <Changelog target={target} package={name} from={from} to={to} />
        </div>
      )}
    </li>
  )
}

interface HoldButtonProps {
  target: string
  name: string
  isHeld: boolean
  deeds: Deeds
}

/** Holds an installed package at its version, or releases it. */
function HoldButton({ target, name, isHeld, deeds }: HoldButtonProps) {
  const { updates: say } = words()
  return (
    <BlockableButton
      class="plain small"
      label={isHeld ? say.releasePackage(name) : say.holdOf(name)}
      blocked={deeds.blocked}
      press={() => deeds.hold(target, [name], !isHeld)}
    >
      {isHeld ? say.release : say.hold}
    </BlockableButton>
  )
}
