import { ofPanel } from '../../nouns/attention.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Placeholder } from '../../parts/loaded.tsx'
import { reviewPlan } from '../../parts/plan/open.ts'
import { Problem } from '../../parts/problem.tsx'
import { targetName } from '../../parts/target-name.ts'
import { go } from '../../router.ts'
import { checks } from '../../wire/checks.ts'
import { hostAway } from '../../wire/host.ts'
import { useLoad } from '../../wire/load.ts'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'

/** As in the file LICENSE. */
const LICENCE = 'MIT'

/** The version of the panel, and the newer one that a package source offers, with the way to its upgrade. */
export function About() {
  const { settings: say } = words()
  const health = useLoad((signal) => api('GET /api/health', { signal }))
  const newer = (checks.value ?? []).flatMap(({ target, findings }) => {
    const finding = findings.find(ofPanel)
    return finding ? [{ target, finding }] : []
  })
  return (
    <section aria-label={say.about}>
      <h2>{say.about}</h2>
      <p class="dim">{say.aboutNote}</p>
      <Problem error={health.error.value} retry={health.reload} />
      {!health.data.value && health.error.value === undefined && <Placeholder rows={2} />}
      {health.data.value && (
        <dl class="facts about">
          <dt>{say.version}</dt>
          <dd class="num">{health.data.value.version}</dd>
          <dt>{say.licence}</dt>
          <dd>{LICENCE}</dd>
          <dt>{say.newest}</dt>
          <dd>
            {newer.length === 0 && <span class="dim">{say.noNewer}</span>}
            {newer.map(({ target, finding }) => (
              <Newer key={target} target={target} sentence={words().findings.sentence(finding)} />
            ))}
          </dd>
        </dl>
      )}
    </section>
  )
}

function Newer({ target, sentence }: { target: string; sentence: string }) {
  const { updates } = words()
  const review = useAct(async () => {
    const job = await reviewPlan(target)
    if (job !== undefined) go(`/updates/${job}`)
  })
  return (
    <div class="newer">
      <p>{sentence}</p>
      <Action
        act={review}
        class="small"
        label={updates.actionOf.review(targetName(target))}
        blocked={hostAway.value ? updates.awayBlocks : undefined}
      >
        {updates.action.review}
      </Action>
      <Problem error={review.error.value} />
    </div>
  )
}
