import { useEffect, useMemo } from 'preact/hooks'
import { isPlanRefused } from '../../nouns/plan.ts'
import { hostAway } from '../../wire/host.ts'
import { startPlan } from '../../wire/jobs.ts'
import { createPlanning, type Planning } from '../../wire/planning.ts'
import { words } from '../../words/words.ts'
import { useAct } from '../action.tsx'
import { useCovering } from '../covering.ts'
import { CloseButton, Dialog } from '../dialog.tsx'
import { Problem } from '../problem.tsx'
import { targetName } from '../target-name.ts'
import { Foot } from './foot.tsx'
import { ManySheet } from './many.tsx'
import { opened } from './open.ts'
import './style.ts'
import { PlanBody, PlanHead } from './view.tsx'

/** Renders the open sheet; used once in the page. */
export function PlanSheet() {
  const sheet = opened.value
  useCovering(sheet)
  if (!sheet) return null
  const { targets, chosen, isRun, answer } = sheet
  const [target = ''] = targets
  return isRun ? (
    <ManySheet key={targets.join()} targets={targets} chosen={chosen} answer={answer} />
  ) : (
    <OneSheet key={target} target={target} chosen={chosen} answer={answer} />
  )
}

interface OneSheetProps {
  target: string
  chosen: Parameters<typeof createPlanning>[1]
  answer(started: string | undefined): void
}

/** The plan of one target, and the button that starts exactly it. */
function OneSheet({ target, chosen, answer }: OneSheetProps) {
  const { plan: say, updates } = words()
  const planning = usePlanning(target, chosen)
  const start = useAct(async () => {
    const current = planning.current.peek()
    if (!current) return
    try {
      answer(await startPlan(current.plan))
    } catch (error) {
      // A plan that was used or has expired cannot be started again.
      if (!isPlanRefused(error)) throw error
      planning.refuse(error)
    }
  })
  return (
    <Dialog title={say.title(targetName(target))} onClose={() => answer(undefined)} class="drawer">
      <CloseButton close={() => answer(undefined)} />
      <PlanHead planning={planning} />
      <PlanBody planning={planning} show={answer} />
      <Foot
        planning={planning}
        busy={start.busy.value}
        blocked={hostAway.value ? updates.awayBlocks : undefined}
        start={() => void start.run()}
        close={() => answer(undefined)}
      >
        <Problem error={start.error.value} />
      </Foot>
    </Dialog>
  )
}

/** Makes the plan when the component appears, and stops when it disappears. */
function usePlanning(target: string, chosen: OneSheetProps['chosen']): Planning {
  const planning = useMemo(() => createPlanning(target, chosen), [target])
  useEffect(() => {
    void planning.make()
    return () => planning.stop()
  }, [planning])
  return planning
}
