import { useSignal } from '@preact/signals'
import { type Application, type ApplicationDeed, deedOf, type Standing, standingOf } from '../../nouns/application.ts'
import type { Check } from '../../nouns/checked.ts'
import { go } from '../../router.ts'
import { applicationNews, readApplications } from '../../wire/applications.ts'
import { useLoad } from '../../wire/load.ts'
import { isAdmin, mayOperate } from '../../wire/panel.ts'
import { BlockableButton } from '../blockable-button.tsx'
import { Problem } from '../problem.tsx'
import { Status } from '../status.tsx'
import { reviewApplication } from './open.ts'
import './style.ts'
import { ApplicationVersions } from './versions.tsx'
import { applicationWords } from './words.ts'

/** Rows that are shown at once, and the number of applications from which a filter helps. */
const [FIRST, MANY] = [20, 12]

/** The heading of a target's applications, to which its findings lead. */
export const applicationsId = (target: string) => `applications-${target}`

/** The applications of a target that do not come from its packages; nothing where there are none. */
export function Applications({ check, name, blocked }: { check: Check; name: string; blocked: string | undefined }) {
  const say = applicationWords()
  const { target, checked_at: at } = check
  const filter = useSignal('')
  const showsAll = useSignal(false)
  const load = useLoad((signal) => readApplications(target, signal), [target, at, applicationNews.value])
  const all = load.data.value ?? []
  if (load.error.value !== undefined) return <Problem error={load.error.value} retry={load.reload} />
  if (all.length === 0) return null
  const wanted = filter.value.trim().toLowerCase()
  const found = inOrder(all, check).filter(
    ({ one }) => one.name.toLowerCase().includes(wanted) || say.kinds[one.kind].toLowerCase().includes(wanted),
  )
  const shown = showsAll.value ? found : found.slice(0, FIRST)
  return (
    <section class="applications" aria-labelledby={applicationsId(target)}>
      <h3 id={applicationsId(target)} tabIndex={-1}>
        {say.title} <span class="dim num">{all.length}</span>
      </h3>
      {all.length > MANY && (
        <input
          type="search"
          class="filter-packages"
          aria-label={say.filter}
          placeholder={say.filter}
          value={filter.value}
          onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
        />
      )}
      {found.length === 0 && <p class="dim">{say.noMatch}</p>}
      <ul class="names" aria-label={say.titleOf(name)}>
        {shown.map(({ one, standing }) => (
          <Row key={one.id} one={one} standing={standing} target={target} blocked={blockedOf(check) ?? blocked} />
        ))}
      </ul>
      {shown.length < found.length && (
        <button type="button" class="button small" onClick={() => (showsAll.value = true)}>
          {say.showAll(found.length)}
        </button>
      )}
    </section>
  )
}

function blockedOf({ state }: Check): string | undefined {
  return state === 'stopped' ? applicationWords().stopped : undefined
}

const ORDER: readonly Standing[] = ['unread', 'agreed', 'manual', 'unknown', 'itself', 'current']

/** Puts those that somebody can do something about first. */
function inOrder(all: readonly Application[], { findings }: Check) {
  return all
    .map((one) => ({ one, standing: standingOf(one, findings) }))
    .sort((a, b) => ORDER.indexOf(a.standing) - ORDER.indexOf(b.standing))
}

const SHAPES = {
  agreed: 'ready',
  unread: 'unknown',
  manual: 'barred',
  itself: 'info',
  unknown: 'unknown',
  current: 'ok',
} as const satisfies Record<Standing, string>

interface RowProps {
  one: Application
  standing: Standing
  target: string
  blocked: string | undefined
}

function Row({ one, standing, target, blocked }: RowProps) {
  const say = applicationWords()
  const isHost = target === 'host'
  const deed = deedOf(standing, { isAdmin: isAdmin.value, mayOperate: mayOperate(target), isHost })
  return (
    <li>
      <span class="pn" title={one.id}>
        {one.name}
      </span>
      <span class="tag">{say.kinds[one.kind]}</span>
      <span class="versions">
        <ApplicationVersions from={one.version} to={one.available} />
      </span>
      <span class="standing" title={isHost && one.available !== null ? say.onHost : say.why[standing]}>
        <Status is={SHAPES[standing]}>{say.standings[standing]}</Status>
      </span>
      {deed && <Deed deed={deed} one={one} target={target} blocked={blocked} />}
    </li>
  )
}

function Deed({ deed, one, target, blocked }: Omit<RowProps, 'standing'> & { deed: ApplicationDeed }) {
  const say = applicationWords()
  const label = say.deedOf[deed](one.name)
  if (deed === 'terminal')
    return (
      <a class="button small" href={`/terminal?target=${target}`} aria-label={label}>
        {say.deeds.terminal}
      </a>
    )
  const review = async () => {
    const job = await reviewApplication({ target, id: one.id })
    if (job !== undefined) go(`/updates/${job}`)
  }
  return (
    <BlockableButton class="small" label={label} blocked={blocked} press={() => void review()}>
      {say.deeds[deed]}
    </BlockableButton>
  )
}
