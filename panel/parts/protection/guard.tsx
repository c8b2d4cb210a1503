import { useSignal } from '@preact/signals'
import { ArrowUp, Camera, HeartPulse, type IconNode, TriangleAlert, Undo2 } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { comparesHealth, type Guard, guardOf } from '../../nouns/protection.ts'
import { isAdmin } from '../../wire/panel.ts'
import { protections, readProtections } from '../../wire/protection.ts'
import { lackSaid, protectionWords } from './words.ts'
import { Icon } from '../icon.tsx'
import { EditPolicy } from './edit.tsx'
import './style.ts'

/** The protection of one target in one line, and the way to change it. */
export function GuardLine({ target }: { target: string }) {
  const say = protectionWords().guard
  const isEdited = useSignal(false)
  const guard = useGuards([target])?.[0]
  return (
    <div class="guard">
      {guard && (
        <>
          <span class="unseen">{say.label}</span>
          <ol>
            <First guard={guard} />
            {comparesHealth(guard) && guard.kind !== 'impossible' && <Rest guard={guard} />}
          </ol>
        </>
      )}
      {guard?.protection && isAdmin.value && (
        <button
          type="button"
          class="button plain small"
          aria-label={say.changeLong}
          onClick={() => (isEdited.value = true)}
        >
          {say.change}
        </button>
      )}
      {isEdited.value && <EditPolicy target={target} close={() => (isEdited.value = false)} />}
    </div>
  )
}

/** The guards of the targets, read once when the component appears; undefined until they are known. */
function useGuards(targets: readonly string[]): Guard[] | undefined {
  useEffect(() => void readProtections(), [])
  const guards = targets.map((target) => guardOf(target, protections.value))
  return guards.some((guard) => guard === undefined) ? undefined : guards.flatMap((guard) => guard ?? [])
}

function First({ guard: { kind, why } }: { guard: Guard }) {
  const say = protectionWords().guard
  const reason = why === null ? '' : lackSaid(why)
  if (kind === 'snapshot' || kind === 'backup') return <Step icon={Camera}>{say[kind]}</Step>
  return (
    <Step icon={TriangleAlert} class="lacks">
      {kind === 'without' || kind === 'impossible' ? say[kind](reason) : say[kind]}
    </Step>
  )
}

function Rest({ guard: { kind, protection } }: { guard: Guard }) {
  const say = protectionWords().guard
  if (!protection) return null
  return (
    <>
      <Step icon={ArrowUp} class="upgrade">
        {say.upgrade}
      </Step>
      <Step icon={HeartPulse}>{say.health(protection.settle_seconds)}</Step>
      <Step icon={Undo2} class={kind === 'without' ? '' : 'undo'}>
        {kind === 'without' ? say.told : say[protection.on_failure]}
      </Step>
    </>
  )
}

function Step({ icon, class: kind = '', children }: { icon: IconNode; class?: string; children: ComponentChildren }) {
  return (
    <li class={kind}>
      <Icon of={icon} />
      <span>{children}</span>
    </li>
  )
}

const KINDS = ['snapshot', 'backup', 'without', 'impossible', 'none', 'host'] as const

/** The guards of several targets, counted by kind. */
export function GuardSummary({ targets }: { targets: readonly string[] }) {
  const say = protectionWords().guard
  const guards = useGuards(targets)
  const compared = guards?.filter(comparesHealth) ?? []
  const same = <value,>(of: (guard: Guard) => value): value | undefined => {
    const [first, ...others] = compared.map(of)
    return others.every((each) => each === first) ? first : undefined
  }
  const settles = same(({ protection }) => protection?.settle_seconds)
  const ends = same(({ protection }) => protection?.on_failure)
  return (
    <div class="guard counts">
      {guards && guards.length > 0 && (
        <>
          <span class="unseen">{say.label}</span>
          <ol>
            {KINDS.map((kind) => {
              const count = guards.filter((guard) => guard.kind === kind).length
              if (count === 0) return null
              const isWell = kind === 'snapshot' || kind === 'backup'
              return (
                <Step key={kind} icon={isWell ? Camera : TriangleAlert} class={isWell ? '' : 'lacks'}>
                  {kind === 'host' ? say.counts.host : say.counts[kind](count)}
                </Step>
              )
            })}
            {compared.length > 0 && (
              <Step icon={HeartPulse}>{settles === undefined ? say.healthAny : say.health(settles)}</Step>
            )}
            {ends && (
              <Step icon={Undo2} class="undo">
                {say[ends]}
              </Step>
            )}
          </ol>
          <a class="button plain small" href="/updates?tab=protection" aria-label={say.changeLong}>
            {say.change}
          </a>
        </>
      )}
    </div>
  )
}
