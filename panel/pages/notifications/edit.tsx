import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { changesOf, bodyOf, type ChannelDraft, channelDraft, KINDS, newChannel } from '../../nouns/channel-form.ts'
import { type Channel, eventsOf, type Kind } from '../../nouns/notification.ts'
import { ownZone } from '../../nouns/when.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Choice } from '../../parts/choice.tsx'
import { CloseButton, Dialog } from '../../parts/dialog.tsx'
import { EDIT_DIALOG } from '../../parts/edit-dialog.ts'
import { focusWrong } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useRefused } from '../../parts/refused.ts'
import { Entry } from '../../parts/schedules/entry.tsx'
import { toast } from '../../parts/toast.tsx'
import { changeChannel, createChannel } from '../../wire/notifications.ts'
import { language, words } from '../../words/words.ts'
import { Fields } from './fields.tsx'
import { KIND_ICONS } from './kind-icons.ts'
import { Quiet } from './quiet.tsx'
import { Told } from './told.tsx'
import { notificationWords } from './words.ts'

interface EditChannelProps {
  /** Undefined for a new channel. */
  stored: Channel | undefined
  /** Called after a change. */
  saved(): Promise<void>
  close(): void
}

/** The dialog of a channel. A new one begins with its kind. */
export function EditChannel({ stored, saved, close }: EditChannelProps) {
  const say = notificationWords()
  const kind = useSignal<Kind | undefined>(stored?.kind)
  const title = stored
    ? say.edition.title(stored.name)
    : kind.value === undefined
      ? say.create
      : say.edition.newTitle(say.kinds[kind.value])
  return (
    <Dialog title={title} onClose={close} class={`${EDIT_DIALOG} edit-channel`}>
      <CloseButton close={close} />
      {kind.value === undefined ? (
        <Kinds choose={(next) => (kind.value = next)} />
      ) : (
        <ChannelForm kind={kind.value} stored={stored} saved={saved} close={close} />
      )}
    </Dialog>
  )
}

function Kinds({ choose }: { choose(kind: Kind): void }) {
  const say = notificationWords()
  return (
    <>
      <p class="dim">{say.edition.choose}</p>
      <ul class="kinds">
        {KINDS.map((kind, n) => (
          <li key={kind}>
            <button type="button" data-first={n === 0 ? true : undefined} onClick={() => choose(kind)}>
              <Icon of={KIND_ICONS[kind]} />
              <span class="grow">
                <b>{say.kinds[kind]}</b>
                <span class="dim small">{say.kindHints[kind]}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function ChannelForm({ kind, stored, saved, close }: EditChannelProps & { kind: Kind }) {
  const say = notificationWords().edition
  const form = useRef<HTMLFormElement>(null)
  const draft = useSignal<ChannelDraft>(stored ? channelDraft(stored, ownZone()) : begun(kind))
  const set = (part: Partial<ChannelDraft>) => (draft.value = { ...draft.peek(), ...part })
  const save = useAct(async () => {
    noteSent()
    try {
      if (stored) {
        const changes = changesOf(draft.peek(), stored)
        if (Object.keys(changes).length === 0) toast(say.unchanged)
        else {
          await changeChannel(stored.id, changes)
          toast(say.saved)
        }
      } else {
        await createChannel(kind, bodyOf(draft.peek()))
        toast(say.created)
      }
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
    close()
    await saved()
  })
  const { wrong, error, noteSent } = useRefused(save.error.value, bodyOf(draft.value))
  const { name, events, targets, language: tongue, output } = draft.value
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save.run()
      }}
    >
      <Entry
        name="name"
        label={say.name}
        hint={say.nameHint}
        value={name}
        error={wrong.name && say.wrong.name}
        focused={stored === undefined}
        typed={(next) => set({ name: next })}
      />
      <Fields draft={draft.value} set={set} stored={stored} wrong={wrong} />
      <Told events={events} targets={targets} set={set} wrong={wrong} />
      <Quiet draft={draft.value} set={set} wrong={wrong} />
      <div class="field">
        <Choice label={say.language} value={tongue} of={say.languages} choose={(next) => set({ language: next })} />
      </div>
      <label class="tick">
        <input
          type="checkbox"
          checked={output}
          onChange={({ currentTarget }) => set({ output: currentTarget.checked })}
        />
        <span>
          {say.output}
          <span class="hint dim">{say.outputHint}</span>
        </span>
      </label>
      <Problem error={error} />
      <div class="buttons">
        <button type="button" class="button" onClick={close}>
          {words().shell.cancel}
        </button>
        <Action act={save} type="submit" class="primary">
          {stored ? say.save : say.create}
        </Action>
      </div>
    </form>
  )
}

/** A new channel gets what is critical and what is a warning, in the reader's language. */
function begun(kind: Kind): ChannelDraft {
  const events = [...eventsOf('critical'), ...eventsOf('warning')]
  return newChannel({ kind, events, timezone: ownZone(), language: language() })
}
