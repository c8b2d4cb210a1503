import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { accessWords } from '../../parts/access/words.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Field, focusWrong } from '../../parts/field.tsx'
import { Problem } from '../../parts/problem.tsx'
import { targetName } from '../../parts/target-name.ts'
import { targets } from '../../wire/packages.ts'
import { api, me } from '../../wire/panel.ts'

const ROLES = ['viewer', 'operator', 'admin'] as const
const LIVES = ['7', '30', '90', '365', 'never'] as const
type Life = (typeof LIVES)[number]

interface TokenFormProps {
  made(token: string): void
  cancel(): void
}

/** Makes an API token, which may do at most what its owner may. */
export function TokenForm({ made, cancel }: TokenFormProps) {
  const { tokens: say, roles } = accessWords()
  const { role: own = 'viewer', operates } = me.value ?? {}
  const name = useSignal('')
  const role = useSignal<(typeof ROLES)[number]>('viewer')
  const life = useSignal<Life>('90')
  const isBounded = useSignal(false)
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const tried = useSignal(false)
  const form = useRef<HTMLFormElement>(null)
  /** Everybody reads everything: only what a token works on is bounded by its owner's targets. */
  const possible = (targets.value ?? []).filter(
    ({ id }) => role.value === 'viewer' || !operates || operates.includes(id),
  )
  const isNarrow = role.value !== 'viewer' && operates !== undefined
  const mustChoose = isBounded.value || isNarrow
  const picked = possible.filter(({ id }) => chosen.value.has(id)).map(({ id }) => id)
  const act = useAct(async () => {
    tried.value = true
    if (!name.value.trim() || (mustChoose && picked.length === 0)) return focusWrong(form.current)
    const until = life.value === 'never' ? { expires_at: null } : { expires_in_days: Number(life.value) }
    const body = {
      name: name.value.trim(),
      role: role.value,
      targets: mustChoose ? picked : ('all' as const),
      ...until,
    }
    const { token } = await api('POST /api/auth/tokens', { body })
    made(token)
  })
  const offered = Object.fromEntries(ROLES.slice(0, ROLES.indexOf(own) + 1).map((each) => [each, roles.names[each]]))
  return (
    <form
      ref={form}
      class="add-factor"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void act.run()
      }}
    >
      <Field
        label={say.name}
        name="name"
        value={name}
        hint={say.nameHint}
        autoFocus
        required
        error={tried.value && !name.value.trim() ? say.nameMissing : undefined}
      />
      <Choice
        label={say.role}
        value={role.value}
        of={offered}
        choose={(next) => {
          role.value = ROLES.find((each) => each === next) ?? 'viewer'
        }}
      />
      <p class="hint dim">{roles.means[role.value]}</p>
      {!isNarrow && (
        <Choice
          label={say.targets}
          value={isBounded.value ? 'some' : 'all'}
          of={{ all: say.allTargets, some: say.someTargets }}
          choose={(next) => {
            isBounded.value = next === 'some'
          }}
        />
      )}
      {mustChoose && (
        <fieldset
          class="field pick"
          aria-invalid={tried.value && picked.length === 0}
          aria-describedby={tried.value && picked.length === 0 ? 'pick-error' : undefined}
          tabIndex={-1}
        >
          <legend class={isNarrow ? undefined : 'unseen'}>{isNarrow ? say.targets : say.someTargets}</legend>
          {tried.value && picked.length === 0 && (
            <p class="wrong" id="pick-error">
              {say.targetsMissing}
            </p>
          )}
          <div class="from">
            {possible.map(({ id, vmid }) => (
              <label key={id}>
                <input
                  type="checkbox"
                  checked={chosen.value.has(id)}
                  onChange={({ currentTarget: { checked } }) => {
                    const next = new Set(chosen.value)
                    if (checked) next.add(id)
                    else next.delete(id)
                    chosen.value = next
                  }}
                />
                <span class="cut">{targetName(id)}</span>
                {vmid !== undefined && <span class="dim num">{vmid}</span>}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <label class="field">
        <b>{say.life}</b>
        <select
          value={life.value}
          onChange={({ currentTarget: { value } }) => {
            life.value = LIVES.find((each) => each === value) ?? '90'
          }}
        >
          {LIVES.map((each) => (
            <option key={each} value={each}>
              {say.lives[each]}
            </option>
          ))}
        </select>
      </label>
      <Problem error={act.error.value} />
      <div class="buttons">
        <button type="button" class="button" onClick={cancel}>
          {say.cancel}
        </button>
        <Action act={act} type="submit" class="primary">
          {say.create}
        </Action>
      </div>
    </form>
  )
}
