import { ArrowDown, ArrowUp, Plus, Trash2, X } from 'lucide'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import {
  freeTargets,
  MOST_WAVES,
  moved,
  type WaveDraft,
  withoutTarget,
  withTarget,
  withWave,
} from '../../nouns/schedule-form.ts'
import { Icon } from '../../parts/icon.tsx'
import { scheduleWords, waveTargetName } from '../../parts/schedules/words.ts'
import { checks } from '../../wire/checks.ts'
import { containers } from '../../wire/containers.ts'
import { readTargets, targets } from '../../wire/packages.ts'

interface WavesProps {
  waves: readonly WaveDraft[]
  set(waves: readonly WaveDraft[]): void
  /** The refused fields, such as `waves.0.targets`. */
  wrong: Readonly<Record<string, string>>
}

/** The waves from the first to the last: their targets, and the pause after each. */
export function Waves({ waves, set, wrong }: WavesProps) {
  const say = scheduleWords().edition
  const place = useRef<HTMLOListElement>(null)
  /** The control that takes the focus after the next change: the control in the wave at this place. */
  const focus = useRef<{ at: number; control: string }>(undefined)
  useEffect(() => {
    // Without the list of containers, those of the checks are offered.
    if (!targets.peek()?.some(({ vmid }) => vmid !== undefined)) readTargets().catch(() => {})
  }, [])
  // Before the paint: a later focus would come after the next key, or take it from where the user went.
  useLayoutEffect(() => {
    const { at = 0, control = '' } = focus.current ?? {}
    if (focus.current) place.current?.children[at]?.querySelector<HTMLElement>(control)?.focus()
    focus.current = undefined
  })
  const change = (next: readonly WaveDraft[], at: number, control: string) => {
    focus.current = { at, control }
    set(next)
  }
  return (
    <section class="card" aria-labelledby="schedule-waves">
      <h2 id="schedule-waves">
        {say.waves} <span class="dim small">{say.wavesNote}</span>
      </h2>
      <ol class="wave-list" ref={place}>
        {waves.map((wave, n) => (
          <Wave key={wave.key} waves={waves} n={n} change={change} set={set} wrong={wrong} />
        ))}
      </ol>
      {wrong.waves && <p class="wrong">{wrong.waves}</p>}
      {waves.length < MOST_WAVES && (
        <button type="button" class="button small" onClick={() => change(withWave(waves), waves.length, 'select')}>
          <Icon of={Plus} />
          {say.addWave}
        </button>
      )}
    </section>
  )
}

interface WaveProps extends WavesProps {
  n: number
  /** Changes the waves, and gives the focus to a control of one. */
  change(next: readonly WaveDraft[], at: number, control: string): void
}

function Wave({ waves, n, change, set, wrong }: WaveProps) {
  const say = scheduleWords().edition
  const wave = waves[n]
  if (!wave) return null
  const all = wave.targets === 'rest' ? ['rest'] : wave.targets
  const isLast = n === waves.length - 1
  const wrongTargets = Object.entries(wrong).find(
    ([field]) => field === `waves.${n}` || field.startsWith(`waves.${n}.targets`),
  )
  const note = wave.targets === 'rest' ? say.restNote : wave.targets.includes('host') ? say.hostNote : undefined
  return (
    <li>
      <span class="number" aria-hidden="true">
        {n + 1}
      </span>
      <div class="grow">
        <div class="row">
          <h3>{say.wave(n + 1)}</h3>
          {note && <span class="dim small">{note}</span>}
          <span class="moves">
            <Move
              label={say.up(n + 1)}
              icon={ArrowUp}
              isOff={n === 0}
              press={() => change(moved(waves, n, n - 1), n - 1, '.up')}
            />
            <Move
              label={say.down(n + 1)}
              icon={ArrowDown}
              isOff={isLast}
              press={() => change(moved(waves, n, n + 1), n + 1, '.down')}
            />
            <Move
              label={say.drop(n + 1)}
              icon={Trash2}
              isOff={waves.length === 1}
              press={() => change(waves.toSpliced(n, 1), Math.max(0, n - 1), '.drop')}
            />
          </span>
        </div>
        <ul class="chips" aria-label={say.wave(n + 1)}>
          {all.map((target) => (
            <li key={target} class="chip">
              <span class="cut" title={waveTargetName(target)}>
                {waveTargetName(target)}
              </span>
              <Mark of={target} />
              <button
                type="button"
                aria-label={say.take(waveTargetName(target), n + 1)}
                onClick={() => change(withoutTarget(waves, n, target), n, 'select')}
              >
                <Icon of={X} />
              </button>
            </li>
          ))}
        </ul>
        {STILL.map(
          (still) =>
            all.some((target) => stillOf(target) === still) && (
              <p key={still} class="dim small">
                {say.stillNotes[still]}
              </p>
            ),
        )}
        {all.length === 0 && !wrongTargets && <p class="dim small">{say.noTargets}</p>}
        {wave.targets !== 'rest' && (
          <Add
            waves={waves}
            n={n}
            isWrong={wrongTargets !== undefined}
            add={(target) => change(withTarget(waves, n, target), n, target === 'rest' ? '.chip button' : 'select')}
          />
        )}
        {wrongTargets && <p class="wrong">{all.length === 0 ? say.wrong.targets : wrongTargets[1]}</p>}
        {!isLast && (
          <p class="pause">
            <span class="dim">{say.pause}</span>
            <input
              type="text"
              inputMode="numeric"
              autoComplete="off"
              name={`waves.${n}.pause_minutes`}
              aria-label={say.pauseOf(n + 1)}
              aria-invalid={wrong[`waves.${n}.pause_minutes`] !== undefined}
              value={wave.pause}
              onInput={({ currentTarget }) =>
                set(waves.map((each, at) => (at === n ? { ...each, pause: currentTarget.value } : each)))
              }
            />
            <span class="dim">{say.pauseUnit}</span>
          </p>
        )}
        {wrong[`waves.${n}.pause_minutes`] && <p class="wrong">{say.wrong.pause}</p>}
      </div>
    </li>
  )
}

const STILL = ['stopped', 'template'] as const

/** Why a container cannot be worked on, as far as the last check knows. */
function stillOf(target: string): (typeof STILL)[number] | undefined {
  const check = checks.value?.find((each) => each.target === target)
  if (check?.state !== 'stopped') return undefined
  return check.findings.some(({ code }) => code === 'container_template') ? 'template' : 'stopped'
}

/** The mark of a chip, which stays whole beside a long name. */
function Mark({ of: target }: { of: string }) {
  const still = stillOf(target)
  return still === undefined ? null : <span class="still">{scheduleWords().edition.still[still]}</span>
}

/** The name of a target, with what keeps a run from it. */
function markedName(target: string): string {
  const still = stillOf(target)
  const name = waveTargetName(target)
  return still === undefined ? name : `${name} (${scheduleWords().edition.still[still]})`
}

interface MoveProps {
  label: string
  icon: Parameters<typeof Icon>[0]['of']
  isOff: boolean
  press(): void
}

function Move({ label, icon, isOff, press }: MoveProps) {
  const kind = icon === ArrowUp ? 'up' : icon === ArrowDown ? 'down' : 'drop'
  return (
    <button
      type="button"
      class={`button plain small ${kind}`}
      aria-label={label}
      aria-disabled={isOff}
      onClick={() => !isOff && press()}
    >
      <Icon of={icon} />
    </button>
  )
}

interface AddProps {
  waves: readonly WaveDraft[]
  n: number
  isWrong: boolean
  add(target: string): void
}

/** Everything that no wave has yet: the host, the rest, tags, containers. */
function Add({ waves, n, isWrong, add }: AddProps) {
  const say = scheduleWords().edition
  const tags = [...new Set((containers.value ?? []).flatMap(({ tags }) => tags ?? []))].sort()
  const known = (targets.value ?? []).flatMap(({ id, vmid }) => (vmid === undefined ? [] : [id]))
  const isEmpty = waves[n]?.targets.length === 0
  const free = (some: readonly string[]) => freeTargets(waves, some)
  const groups = [
    [say.groups.special, free(isEmpty ? ['rest', 'host'] : ['host'])],
    [say.groups.tags, free(tags.map((tag) => `tag:${tag}`))],
    [say.groups.containers, free(known)],
  ] as const
  return (
    <select
      class="add-target"
      aria-label={say.add(n + 1)}
      aria-invalid={isWrong}
      value=""
      onChange={({ currentTarget }) => {
        const { value } = currentTarget
        currentTarget.value = ''
        if (value !== '') add(value)
      }}
    >
      <option value="">{say.addPrompt}</option>
      {groups.map(
        ([group, some]) =>
          some.length > 0 && (
            <optgroup key={group} label={group}>
              {some.map((target) => (
                <option key={target} value={target}>
                  {markedName(target)}
                </option>
              ))}
            </optgroup>
          ),
      )}
    </select>
  )
}
