import type { ComponentChildren } from 'preact'
import type { Check, Finding } from '../../nouns/checked.ts'
import { percent } from '../../nouns/format.ts'
import { worstFirst } from '../../nouns/target-list.ts'
import { ofPanel } from '../../nouns/attention.ts'
import { applicationsId } from '../../parts/applications/list.tsx'
import { applicationWords } from '../../parts/applications/words.ts'
import { FindingText } from '../../parts/finding-text.tsx'
import { RemedyButton } from '../../parts/remedy.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { fromService, language, words } from '../../words/words.ts'
import type { Deeds } from './deeds.ts'
import { OutdatedServices } from './outdated-services.tsx'

/** All that is known about a target besides its packages: findings with their remedies, the last upgrade, reboot and services. */
export function FindingList({ check, deeds }: { check: Check; deeds: Deeds }) {
  const { updates: say } = words()
  const { findings, reboot, services, last_upgrade: last, unfit, job_id, state, checked_at, changed_at } = check
  // The lines below name the reasons and the services. A stopped container has none that run.
  const isToldBelow = ({ code }: Finding) =>
    (code === 'reboot_required' && reboot.required === true) ||
    (code === 'services_outdated' && (services.length > 0 || state === 'stopped'))
  const isSilent = state === 'unknown' && changed_at === null && (checked_at !== null || job_id !== null)
  return (
    <ul class="findings">
      {last && (last.outcome === 'failed' || last.outcome === 'warned') && (
        <Told is={last.outcome === 'failed' ? 'err' : 'warn'} to={last.job_id} link={say.seeOutput}>
          <Ago at={last.finished_at} say={last.outcome === 'failed' ? say.failed : say.warned} />
          {last.exit_code !== null && last.exit_code !== 0 && ` (${words().job.exitCode(last.exit_code)})`}
        </Told>
      )}
      {unfit && (
        <Told is="warn" to={unfit.job_id} link={say.seeDifference}>
          <Ago at={unfit.finished_at} say={say.unfitWhole} />
        </Told>
      )}
      {isSilent && (
        <Told is="unknown" to={job_id} link={say.seeCheck}>
          {checked_at === null ? say.neverAnswered : <Ago at={checked_at} say={say.unanswered} />}
        </Told>
      )}
      {changed_at !== null && (
        <Told is="unknown">
          <Ago at={changed_at} say={say.changed} />
        </Told>
      )}
      {worstFirst(findings.filter((each) => !isToldBelow(each))).map((finding) => (
        <li key={`${finding.code} ${finding.repository} ${finding.message}`}>
          <FindingText finding={finding} />
          <RemedyButton check={check} finding={finding} by={deeds} />
          {finding.code === 'application_update' && !ofPanel(finding) && <ToApplications check={check} />}
        </li>
      ))}
      {check.used !== undefined && state !== 'stopped' && !findings.some(({ code }) => code === 'disk_low') && (
        <Told is="warn">{say.diskFull(percent(check.used, language()))}.</Told>
      )}
      {reboot.required === true && <Told is="info">{say.reboot(reboot.reasons.map(fromService).join(', '))}</Told>}
      <OutdatedServices check={check} deeds={deeds} />
    </ul>
  )
}

/** Leads from a finding to the applications below it. */
function ToApplications({ check: { target, name } }: { check: Check }) {
  const say = applicationWords()
  const place = target === 'host' ? targetName('host') : name
  const lead = () => {
    const heading = document.getElementById(applicationsId(target))
    heading?.focus({ preventScroll: true })
    heading?.scrollIntoView({ block: 'start' })
  }
  return (
    <button type="button" class="button small" aria-label={say.seeOf(place)} onClick={lead}>
      {say.see}
    </button>
  )
}

interface ToldProps {
  is: 'err' | 'warn' | 'unknown' | 'info'
  /** The job that the sentence is about. */
  to?: string | null
  link?: string
  children: ComponentChildren
}

function Told({ is, to = null, link, children }: ToldProps) {
  return (
    <li>
      <Status is={is} hidden />
      <p class="grow">{children}</p>
      {to !== null && (
        <a class="button small" href={`/updates/${to}`}>
          {link}
        </a>
      )}
    </li>
  )
}
