import { type Signal, signal, useSignal } from '@preact/signals'
import { useId, useMemo, useRef } from 'preact/hooks'
import { fieldErrors } from '../../nouns/failure.ts'
import { draftOf, type PolicyDraft, policyFrom } from '../../nouns/policy-form.ts'
import type { Protection } from '../../nouns/protection.ts'
import { dropPolicy, protections, savePolicy } from '../../wire/protection.ts'
import { protectionWords } from './words.ts'
import { fromService, words } from '../../words/words.ts'
import { Action, useAct } from '../action.tsx'
import { Choice } from '../choice.tsx'
import { CloseButton, Dialog } from '../dialog.tsx'
import { EDIT_DIALOG } from '../edit-dialog.ts'
import { Field, focusWrong } from '../field.tsx'
import { Problem } from '../problem.tsx'
import { targetName } from '../target-name.ts'
import { toast } from '../toast.tsx'
import { type ProbeField, Probes, probeFieldOf } from './probes.tsx'
import './style.ts'

interface EditPolicyProps {
  /** `lxc:<id>` or `default`. */
  target: string
  close(): void
}

/** The policy of a container, or the default one, in a dialog. */
export function EditPolicy({ target, close }: EditPolicyProps) {
  const say = protectionWords().edit
  const known = protections.peek()
  const own = known?.targets.find((each) => each.target === target)
  const policy = own?.protection ?? known?.default
  const isDefault = target === 'default'
  if (!policy) return null
  return (
    <Dialog
      title={isDefault ? say.titleDefault : say.title(targetName(target))}
      onClose={close}
      class={`${EDIT_DIALOG} edit-policy`}
    >
      <CloseButton close={close} />
      <PolicyForm
        policy={policy}
        save={(next) => savePolicy(target, next)}
        drop={isDefault || own?.own === true ? () => dropPolicy(target) : undefined}
        dropWord={isDefault ? say.resetDefault : say.reset}
        close={close}
      />
    </Dialog>
  )
}

interface PolicyFormProps {
  policy: Protection
  save(policy: Protection): Promise<void>
  /** Gives the policy up; undefined where there is none of its own. */
  drop: (() => Promise<void>) | undefined
  dropWord: string
  close(): void
}

function PolicyForm({ policy, save, drop, dropWord, close }: PolicyFormProps) {
  const protection = protectionWords()
  const { shell } = words()
  const say = protection.edit
  const form = useRef<HTMLFormElement>(null)
  const draft = useMemo(() => draftOf(policy), [])
  const before = useSignal(draft.before)
  const storage = useSignal(draft.backup_storage)
  const keep = useSignal(draft.keep)
  const onFailure = useSignal(draft.on_failure)
  const settle = useSignal(draft.settle_seconds)
  const probes = useMemo(() => signal<readonly ProbeField[]>(draft.probes.map(probeFieldOf)), [])
  const act = useAct(async () => {
    const typed: PolicyDraft = {
      before: before.value,
      backup_storage: storage.value,
      keep: keep.value,
      on_failure: onFailure.value,
      settle_seconds: settle.value,
      probes: probes.value.map(({ kind, text, status }) => ({ kind, text: text.value, status: status.value })),
    }
    try {
      await save(policyFrom(typed))
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
    toast(say.saved)
    close()
  })
  const reset = useAct(async () => {
    await drop?.()
    toast(say.saved)
    close()
  })
  const wrong = fieldErrors(act.error.value)
  const isNothing = before.value === 'none'
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void act.run()
      }}
    >
      <div class="field">
        <Choice label={say.before} value={before.value} of={say.befores} choose={(next) => (before.value = next)} />
        <p class="hint dim">{say.beforeHints[before.value]}</p>
      </div>
      {before.value === 'backup' && <Storage value={storage} wrong={wrong.backup_storage} />}
      {!isNothing && (
        <>
          <Field name="keep" label={say.keep} value={keep} hint={say.keepHint} error={wrong.keep && say.wrongOf.keep} />
          <div class="field">
            <Choice
              label={say.failure}
              value={onFailure.value}
              of={say.failures}
              choose={(next) => (onFailure.value = next)}
            />
            <p class="hint dim">{say.failureHints[onFailure.value]}</p>
          </div>
          <Field
            name="settle_seconds"
            label={say.settle}
            value={settle}
            hint={say.settleHint}
            error={wrong.settle_seconds && say.wrongOf.settle_seconds}
          />
          <Probes probes={probes} wrong={wrong} />
        </>
      )}
      <Problem error={act.error.value ?? reset.error.value} />
      <div class="buttons">
        {drop && (
          <Action act={reset} class="plain reset">
            {dropWord}
          </Action>
        )}
        <button type="button" class="button" onClick={close}>
          {shell.cancel}
        </button>
        <Action act={act} type="submit" class="primary">
          {say.save}
        </Action>
      </div>
    </form>
  )
}

/** The storages of the host that take backups. A storage that is gone stays as the policy has it. */
function Storage({ value, wrong }: { value: Signal<string>; wrong: string | undefined }) {
  const say = protectionWords().edit
  const id = useId()
  const known = protections.value?.storages ?? []
  const all = value.value === '' || known.includes(value.value) ? known : [...known, value.value]
  return (
    <div class="field">
      <label htmlFor={id}>{say.storage}</label>
      <select
        id={id}
        name="backup_storage"
        aria-invalid={wrong !== undefined}
        aria-describedby={wrong && `${id}-error`}
        value={value.value}
        onChange={({ currentTarget }) => (value.value = currentTarget.value)}
      >
        <option value="">{say.anyStorage}</option>
        {all.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {wrong && (
        <p class="wrong" id={`${id}-error`}>
          {fromService(wrong)}
        </p>
      )}
    </div>
  )
}
