import { type Signal, signal } from '@preact/signals'
import { Plus, X } from 'lucide'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { MOST_PROBES, type ProbeDraft } from '../../nouns/policy-form.ts'
import { protectionWords } from './words.ts'
import { fromService } from '../../words/words.ts'
import { Field } from '../field.tsx'
import { Icon } from '../icon.tsx'

/** A probe in the form. */
export interface ProbeField {
  kind: ProbeDraft['kind']
  text: Signal<string>
  status: Signal<string>
}

const KINDS = ['http', 'tcp', 'unit', 'command'] as const
/** The field of each kind, as the service names it when it refuses it. */
const FIELDS = { http: 'url', tcp: 'port', unit: 'name', command: 'command' } as const

export function probeFieldOf({ kind, text, status }: ProbeDraft): ProbeField {
  return { kind, text: signal(text), status: signal(status) }
}

interface ProbesProps {
  probes: Signal<readonly ProbeField[]>
  /** The refused fields, such as `probes.0.url`. */
  wrong: Readonly<Record<string, string>>
}

/** The probes of a policy, and a button for each kind that adds one. */
export function Probes({ probes, wrong }: ProbesProps) {
  const say = protectionWords().edit
  const place = useRef<HTMLFieldSetElement>(null)
  const count = useRef(probes.peek().length)
  const all = probes.value
  // Before the paint: a later focus would come after the next key, or take it from where the user went.
  useLayoutEffect(() => {
    const inputs = place.current?.querySelectorAll<HTMLElement>('li .field:first-child input') ?? []
    // A new probe has the focus; after a removal, the buttons that add one have it.
    if (all.length > count.current) inputs[inputs.length - 1]?.focus()
    else if (all.length < count.current) place.current?.querySelector<HTMLElement>('.add button')?.focus()
    count.current = all.length
  }, [all.length])
  return (
    <fieldset class="probes" ref={place}>
      <legend>{say.probes}</legend>
      <p class="hint dim">{say.probesHint}</p>
      {all.length > 0 && (
        <ul>
          {all.map((probe, n) => (
            <li key={`${n} ${probe.kind}`}>
              <ProbeFields probe={probe} n={n} wrong={wrong} />
              <button
                type="button"
                class="button plain small"
                aria-label={say.removeProbe(`${say.addOf[probe.kind]} ${probe.text.value}`)}
                onClick={() => (probes.value = all.filter((each) => each !== probe))}
              >
                <Icon of={X} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {wrong.probes && <p class="wrong">{fromService(wrong.probes)}</p>}
      {all.length < MOST_PROBES && (
        <fieldset class="add" aria-label={say.addProbe}>
          {KINDS.map((kind) => (
            <button
              key={kind}
              type="button"
              class="button small"
              onClick={() => {
                probes.value = [...all, probeFieldOf({ kind, text: '', status: kind === 'http' ? '200' : '' })]
              }}
            >
              <Icon of={Plus} />
              {say.addOf[kind]}
            </button>
          ))}
        </fieldset>
      )}
    </fieldset>
  )
}

function ProbeFields({ probe, n, wrong }: { probe: ProbeField; n: number; wrong: ProbesProps['wrong'] }) {
  const say = protectionWords().edit
  const { kind, text, status } = probe
  const field = FIELDS[kind]
  // A refused word of a command is told by its number.
  const isWrong = Object.keys(wrong).some((name) => `${name}.`.startsWith(`probes.${n}.${field}.`))
  return (
    <div class="grow">
      <Field
        name={`probes.${n}.${field}`}
        label={say.probe[kind]}
        value={text}
        mono
        hint={kind === 'command' ? say.commandHint : undefined}
        error={isWrong ? say.wrongOf[field] : undefined}
      />
      {kind === 'http' && (
        <Field
          name={`probes.${n}.status`}
          label={say.probe.status}
          value={status}
          error={wrong[`probes.${n}.status`] === undefined ? undefined : say.wrongOf.status}
        />
      )}
    </div>
  )
}
