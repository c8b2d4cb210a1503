import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { guardOf, isWithout } from '../../nouns/protection.ts'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { EditPolicy } from '../../parts/protection/edit.tsx'
import { policySaid, protectionWords } from '../../parts/protection/words.ts'
import { checks } from '../../wire/checks.ts'
import { isAdmin } from '../../wire/panel.ts'
import { protections, protectionsError, readProtections } from '../../wire/protection.ts'
import { GuardedRow } from './guarded-row.tsx'
import '../../parts/protection/style.ts'

/** The default policy, and each container with its own one, what it can, and its snapshots. */
export function ProtectionTab({ show }: { show(job: string): void }) {
  const say = protectionWords().page
  const edited = useSignal<string>()
  // A check reads the storages and the snapshots, and an upgrade makes one.
  const seen = checks.value?.map(({ target, checked_at, changed_at }) => `${target} ${checked_at} ${changed_at}`).join()
  useEffect(() => void readProtections(), [seen])
  const told = protections.value
  const lacking = told?.targets.filter(({ target }) => isWithout(guardOf(target, told))).length ?? 0
  return (
    <div class="protection">
      <p class="dim">{say.note}</p>
      <Problem error={protectionsError.value} retry={readProtections} />
      {!told && protectionsError.value === undefined && <Placeholder rows={5} />}
      {told && (
        <>
          <section class="default-policy" aria-labelledby="default-policy">
            <div class="grow">
              <h2 id="default-policy">{say.default}</h2>
              <p class="dim small">{say.defaultNote}</p>
              <p>{policySaid(told.default)}</p>
            </div>
            {isAdmin.value && (
              <button
                type="button"
                class="button"
                aria-label={say.editDefault}
                onClick={() => (edited.value = 'default')}
              >
                {say.edit}
              </button>
            )}
          </section>
          <section aria-labelledby="guarded">
            <h2 id="guarded">
              {say.containers} {lacking > 0 && <span class="lacking">{say.lacking(lacking)}</span>}
            </h2>
            {told.targets.length === 0 && <p class="empty">{say.none}</p>}
            {told.targets.length > 0 && (
              <ul class="list guarded">
                {told.targets.map((each) => (
                  <GuardedRow key={each.target} of={each} edit={() => (edited.value = each.target)} show={show} />
                ))}
              </ul>
            )}
          </section>
        </>
      )}
      {edited.value !== undefined && <EditPolicy target={edited.value} close={() => (edited.value = undefined)} />}
    </div>
  )
}
