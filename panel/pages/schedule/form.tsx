import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Schedule } from '../../nouns/schedule.ts'
import {
  changesIn,
  type Draft,
  draftOf,
  newDraft,
  type PingChange,
  type Settings,
  settingsIn,
} from '../../nouns/schedule-form.ts'
import { ownZone } from '../../nouns/when.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Choice } from '../../parts/choice.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { focusWrong } from '../../parts/field.tsx'
import { Heading } from '../../parts/heading.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useRefused } from '../../parts/refused.ts'
import { withProof } from '../../parts/schedules/proof.ts'
import { scheduleWords } from '../../parts/schedules/words.ts'
import { toast } from '../../parts/toast.tsx'
import { go, guardLeaving } from '../../router.ts'
import { changeSchedule, createSchedule, removeSchedule } from '../../wire/schedules.ts'
import { words } from '../../words/words.ts'
import { Entry } from '../../parts/schedules/entry.tsx'
import { Limits } from './limits.tsx'
import { Preview, usePreview } from './preview.tsx'
import { Waves } from './waves.tsx'
import { When } from './when.tsx'

/** The form of a schedule, a new one or a stored one, with what it will do beside it. */
export function ScheduleForm({ stored }: { stored: Schedule | undefined }) {
  const say = scheduleWords().edition
  const form = useRef<HTMLFormElement>(null)
  const first = useMemo(() => (stored ? draftOf(stored) : newDraft(ownZone())), [])
  const draft = useSignal<Draft>(first)
  const ping = useSignal<PingChange>(undefined)
  const set = (part: Partial<Draft>) => (draft.value = { ...draft.peek(), ...part })
  const typed = settingsIn(draft.value)
  const preview = usePreview(typed.cron, typed.timezone)
  const isUnsaved = JSON.stringify(typed) !== JSON.stringify(settingsIn(first)) || isChange(ping.value)
  const isSaved = useRef(false)
  useEffect(() => {
    if (!isUnsaved) return
    return guardLeaving((leave) => {
      if (isSaved.current) return true
      const question = { title: say.leaveTitle, text: say.leaveText, verb: say.leave, danger: true }
      void confirm(question).then((yes) => yes && leave())
      return false
    })
  }, [isUnsaved])
  const leave = () => {
    isSaved.current = true
    go('/schedules')
  }
  const save = useAct(async () => {
    noteSent()
    try {
      const done = await store(stored, settingsIn(draft.peek()), draft.peek(), ping.peek())
      if (!done) return
    } catch (error) {
      focusWrong(form.current)
      throw error
    }
    toast(stored ? say.saved : say.created)
    leave()
  })
  const remove = useAct(async () => {
    if (!stored) return
    const { title, text, verb } = scheduleWords().removing
    if (!(await confirm({ title: title(stored.name), text, verb, danger: true }))) return
    await removeSchedule(stored.id)
    toast(scheduleWords().removed(stored.name))
    leave()
  })
  const { wrong, error, noteSent } = useRefused(save.error.value, { ...typed, ping_url: ping.value })
  return (
    <div class="answer-page">
      <Heading
        title={stored?.name ?? say.newTitle}
        note={isUnsaved ? say.unsaved : stored && say.owner(stored.created_by)}
      >
        {stored && <Action act={remove}>{scheduleWords().remove}</Action>}
        <a class="button" href="/schedules">
          {scheduleWords().run.toAll}
        </a>
      </Heading>
      <Problem error={remove.error.value} />
      <form
        class="schedule-form"
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void save.run()
        }}
      >
        <div class="parts">
          <section class="card" aria-labelledby="schedule-what">
            <h2 id="schedule-what">{say.what}</h2>
            <Entry
              name="name"
              label={say.name}
              value={draft.value.name}
              hint={say.nameHint}
              error={wrong.name && say.wrong.name}
              typed={(name) => set({ name })}
            />
            <div class="pair">
              <div class="field">
                <Choice
                  label={say.action}
                  value={draft.value.action}
                  of={say.actions}
                  choose={(action) => set({ action })}
                />
              </div>
              {draft.value.action === 'upgrade' && (
                <div class="field">
                  <Choice
                    label={say.packages}
                    value={draft.value.only}
                    of={say.only}
                    choose={(only) => set({ only })}
                  />
                </div>
              )}
            </div>
          </section>
          <When draft={draft.value} set={set} wrong={wrong} wrongCron={preview.wrong} />
          <Waves waves={draft.value.waves} set={(waves) => set({ waves })} wrong={wrong} />
          <Limits draft={draft.value} set={set} wrong={wrong} ping={ping} isPinged={stored?.ping_url_set ?? false} />
        </div>
        <Preview settings={typed} next={preview.next} wrong={preview.wrong}>
          <Problem error={error} />
          <div class="buttons">
            <a class="button" href="/schedules">
              {words().shell.cancel}
            </a>
            <Action act={save} type="submit" class="primary">
              {stored ? say.save : say.create}
            </Action>
          </div>
        </Preview>
      </form>
    </div>
  )
}

function isChange(ping: PingChange): ping is string | null {
  return ping !== undefined && ping !== ''
}

/** Stores it. A schedule that may restart the host needs the user's own password; false when they decline. */
async function store(stored: Schedule | undefined, typed: Settings, draft: Draft, ping: PingChange): Promise<boolean> {
  const pinged = isChange(ping) ? { ping_url: ping } : {}
  const changes = stored ? { ...changesIn(draft, stored), ...pinged } : undefined
  if (changes && Object.keys(changes).length === 0) {
    toast(scheduleWords().edition.unchanged)
    return false
  }
  return withProof(async (proof) => {
    if (stored && changes) await changeSchedule(stored.id, { ...changes, ...proof })
    else await createSchedule({ ...typed, ...pinged, ...proof })
  })
}
