import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { EditPolicy } from '../../parts/protection/edit.tsx'
import { policySaid } from '../../parts/protection/words.ts'
import { isAdmin } from '../../wire/panel.ts'
import { protections, protectionsError, readProtections } from '../../wire/protection.ts'
import { words } from '../../words/words.ts'
import { GuardedRow } from './guarded-row.tsx'

/** The default policy, and each container with its own one, what it can, and its snapshots. */
export function ProtectionTab({ show }: { show(job: string): void }) {
  const say = words().protection.page
  const edited = useSignal<string>()
  useEffect(() => void readProtections(), [])
  const told = protections.value
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
            <h2 id="guarded">{say.containers}</h2>
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
