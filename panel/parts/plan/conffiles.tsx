import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Conffile } from '../../nouns/plan.ts'
import { isAdmin } from '../../wire/panel.ts'
import type { Planning } from '../../wire/planning.ts'
import { chooseConffile, compareConffiles } from '../../wire/plans.ts'
import { words } from '../../words/words.ts'
import { Problem } from '../problem.tsx'
import { Switch } from './switch.tsx'

/** The configuration files that somebody has changed: how the new versions differ, and which of the two stays. */
export function Conffiles({ planning }: { planning: Planning }) {
  const say = words().plan.conffiles
  const isBusy = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const list = useRef<HTMLUListElement>(null)
  const plan = planning.current.value?.plan
  if (!plan || plan.conffiles.length === 0) return null
  const isNew = plan.conffiles.some(({ state }) => state === 'changed')
  const revise = async (ask: Promise<typeof plan>) => {
    isBusy.value = true
    error.value = undefined
    try {
      planning.revise(await ask)
    } catch (reason) {
      error.value = reason
    } finally {
      isBusy.value = false
    }
  }
  const choose = (file: string, takes: boolean) => revise(chooseConffile(plan.id, file, takes ? 'take' : 'keep'))
  return (
    <section class="conffiles" aria-labelledby="conffiles-title" aria-busy={isBusy.value}>
      <div class="changes-bar">
        <h3 class="grow" id="conffiles-title">
          {say.title}
        </h3>
        {isNew && (
          <button
            type="button"
            class="button"
            aria-disabled={isBusy.value}
            onClick={() => {
              if (!isBusy.value) void revise(compareConffiles(plan.id)).then(() => list.current?.focus())
            }}
          >
            {isBusy.value ? say.comparing : say.compare}
          </button>
        )}
      </div>
      <p class="small dim" role="status">
        {isNew ? say.explain : isAdmin.value ? say.choose : say.forAdmins}
      </p>
      <Problem error={error.value} />
      {/* The button that had the focus is gone after a comparison. */}
      <ul ref={list} tabIndex={-1}>
        {plan.conffiles.map((one) => (
          <li key={one.file}>
            <ConffileRow one={one} take={(takes) => void choose(one.file, takes)} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function ConffileRow({ one, take }: { one: Conffile; take(takes: boolean): void }) {
  const say = words().plan.conffiles
  const { file, package: owner, state, choice, diff, diff_cut: isCut, diff_missing: missing } = one
  return (
    <>
      <p class="file">
        <span class="mono">{file}</span> <span class="small dim">{owner}</span>
      </p>
      {state !== 'changed' && state !== 'conflict' && <p class="small dim">{say[state]}</p>}
      {missing && <p class="small dim">{say.missing[missing]}</p>}
      {diff !== null && (
        <details>
          <summary>{say.diff}</summary>
          <Diff text={diff} />
          {isCut && <p class="small dim">{say.cut}</p>}
        </details>
      )}
      {state === 'conflict' && isAdmin.value && (
        <Switch label={say.take} hint={choice === 'take' ? say.taken : say.kept} isOn={choice === 'take'} turn={take} />
      )}
    </>
  )
}

/** A unified diff without its head: lines that go in one colour, lines that come in another. */
function Diff({ text }: { text: string }) {
  const say = words().plan.conffiles
  return (
    <section class="diff" aria-label={say.diff}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre tabIndex={0}>
        {text
          .replace(/\n$/, '')
          .split('\n')
          .map((line, at) => {
            const kind = line.startsWith('+')
              ? 'comes'
              : line.startsWith('-')
                ? 'goes'
                : line.startsWith('@@')
                  ? 'place'
                  : ''
            return (
              <span key={at} class={kind}>
                {`${line}\n`}
              </span>
            )
          })}
      </pre>
    </section>
  )
}
