import { useSignal } from '@preact/signals'
import { Copy } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import type { Agreement, Source } from '../../nouns/application.ts'
import { bytes } from '../../nouns/format.ts'
import { agreeTo, type ApplicationOf, applicationNews, readApplications } from '../../wire/applications.ts'
import { startApplication, withdrawAgreement } from '../../wire/applications.ts'
import { hostAway } from '../../wire/host.ts'
import { useLoad } from '../../wire/load.ts'
import { isAdmin } from '../../wire/panel.ts'
import { checkOf } from '../../wire/plans.ts'
import { language, words } from '../../words/words.ts'
import { Action, useAct } from '../action.tsx'
import { copyText } from '../clipboard.ts'
import { useCovering } from '../covering.ts'
import { CloseButton, confirm, Dialog } from '../dialog.tsx'
import { Icon } from '../icon.tsx'
import { Problem } from '../problem.tsx'
import { GuardLine } from '../protection/guard.tsx'
import { Status } from '../status.tsx'
import { Ago } from '../time.tsx'
import { toast } from '../toast.tsx'
import { Agreed, agreementOf } from './agreement.tsx'
import { Differences, Files, Images } from './files.tsx'
import { openedApplication } from './open.ts'
import { noticeOf, type Reading, useReading } from './reading.ts'
import './style.ts'
import { ApplicationVersions } from './versions.tsx'
import { applicationWords } from './words.ts'

/** Renders the open sheet of an application; used once in a page. */
export function ApplicationSheet() {
  const sheet = openedApplication.value
  useCovering(sheet)
  if (!sheet) return null
  const { target, id, answer } = sheet
  return <OneSheet key={`${target} ${id}`} of={{ target, id }} answer={answer} />
}

/** A press that follows an agreement at once is part of the same gesture, and starts nothing. */
const SAME_GESTURE_MS = 1_000

interface OneSheetProps {
  of: ApplicationOf
  /** Closes the sheet; with the id of the job. */
  answer(started: string | undefined): void
}

/** The sheet of one application: its update is read, agreed to, and started here. */
function OneSheet({ of, answer }: OneSheetProps) {
  const say = applicationWords().sheet
  const { target, id } = of
  const isStack = id.startsWith('compose:')
  const reading = useReading(of)
  const source = reading.source.value
  const list = useLoad((signal) => readApplications(target, signal), [target, applicationNews.value])
  const one = list.data.value?.find((each) => each.id === id)
  const name = one?.name ?? id.slice(id.indexOf(':') + 1)
  const agreement = useNewestAgreement(agreementOf(one))
  const agreedAt = useRef(Number.NEGATIVE_INFINITY)
  /** Goes back to reading where the service has something else; nothing that was read is lost. */
  const orReadAgain = async (deed: Promise<unknown>) => {
    try {
      await deed
    } catch (error) {
      const notice = noticeOf(error)
      if (notice === undefined) throw error
      await reading.read(notice)
    }
  }
  const agree = useAct(async (shown: Source) =>
    orReadAgain(
      agreeTo(of, shown).then((agreed) => {
        agreedAt.current = performance.now()
        reading.take(agreed)
      }),
    ),
  )
  const start = useAct(async (shown: Source) => orReadAgain(startApplication(of, shown.digest).then(answer)))
  const withdraw = useAct(async () => {
    const digest = agreement.value?.digest ?? source?.digest
    if (digest === undefined || !(await confirm({ ...say.agreement.withdrawing, danger: true }))) return
    await withdrawAgreement(of, digest)
    agreement.value = undefined
    const shown = reading.source.peek()
    if (shown?.digest === digest) reading.take({ ...shown, agreed: false })
    toast(say.agreement.withdrawn)
  })
  const isBusy = reading.busy.value || agree.busy.value || start.busy.value || withdraw.busy.value
  const isStopped = checkOf(target)?.state === 'stopped'
  const blocked = hostAway.value ? words().updates.awayBlocks : isStopped ? applicationWords().stopped : undefined
  const press = () => {
    if (!source || isBusy || blocked !== undefined) return
    if (!source.agreed) void agree.run(source)
    else if (performance.now() - agreedAt.current > SAME_GESTURE_MS) void start.run(source)
  }
  const close = () => answer(undefined)
  return (
    <Dialog title={say.title(name)} onClose={close} class="drawer application">
      <CloseButton close={close} />
      <header>
        <Progress reading={reading} isStack={isStack} />
        {one && (one.version !== null || one.available !== null) && (
          <p class="small">
            {one.available === null && <span class="dim">{say.installed} </span>}
            <ApplicationVersions from={one.version} to={one.available} />
          </p>
        )}
      </header>
      <div class="sheet-body">
        {reading.notice.value && (
          <p class="problem" role="alert">
            <Status is="warn" hidden />
            <span class="grow">{say[reading.notice.value]}</span>
          </p>
        )}
        <Problem error={reading.error.value} retry={() => reading.read(reading.notice.peek())} />
        <p class="dim">{say.explain[isStack ? 'compose' : 'community_script']}</p>
        <Agreed source={source} agreement={agreement.value} withdraw={withdraw} />
        {source && <Shown source={source} reading={reading} isStack={isStack} />}
      </div>
      <footer>
        <Problem error={agree.error.value ?? start.error.value ?? withdraw.error.value} />
        <GuardLine target={target} />
        <p class="grow small dim">
          {source && (
            <>
              {source.agreed ? say.exactly[isStack ? 'stack' : 'script'] : say.notBegun}{' '}
              <code class="hash" title={source.digest}>
                {source.digest.slice(0, 12)}
              </code>
            </>
          )}
        </p>
        <button type="button" class="button" onClick={close}>
          {say.close}
        </button>
        {isAdmin.value && (
          <button
            type="button"
            class="button primary"
            aria-disabled={!source || isBusy || blocked !== undefined}
            aria-busy={agree.busy.value || start.busy.value}
            title={blocked}
            onKeyDown={(event) => {
              if (event.repeat) event.preventDefault()
            }}
            onClick={press}
          >
            {source?.agreed ? (isStack ? say.runStack : say.run) : isStack ? say.agreeStack : say.agree}
          </button>
        )}
      </footer>
    </Dialog>
  )
}

/** The agreement that the service tells, kept when something else has been fetched since: it can still be withdrawn. */
function useNewestAgreement(told: Agreement | undefined) {
  const known = useSignal<Agreement | undefined>(told)
  useEffect(() => {
    if (told) known.value = told
  }, [told?.digest, told?.at])
  return known
}

/** How far the reading is, its extent, and the way to read again. */
function Progress({ reading, isStack }: { reading: Reading; isStack: boolean }) {
  const say = applicationWords().sheet
  const source = reading.source.value
  const size = source?.files.reduce((sum, file) => sum + file.size, 0) ?? 0
  const extent = source && say.files(source.files.length, bytes(size, words().shell.units.bytes, language()))
  if (reading.busy.value)
    return (
      <>
        <p class="made small dim" role="status">
          <Status is="run" hidden /> {isStack ? say.readingStack : say.reading} {!source && say.long}
        </p>
        <progress aria-label={isStack ? say.readingStack : say.reading} />
      </>
    )
  return (
    <p class="made small dim" role="status">
      {source && (
        <>
          <Ago at={reading.at.value} say={say.readAt} />
          {!isStack && ` · ${extent}`}{' '}
          <button type="button" class="button plain small" onClick={() => void reading.read()}>
            {say.again}
          </button>
        </>
      )}
    </p>
  )
}

/** The address and the digest, what has changed, what is refused, and every text. */
function Shown({ source, reading, isStack }: { source: Source; reading: Reading; isStack: boolean }) {
  const say = applicationWords().sheet
  const before = reading.before.value
  const copy = useAct(async () => toast((await copyText(source.digest)) ? say.copied : say.notCopied))
  return (
    <>
      <dl class="facts">
        <dt>{isStack ? say.stackFiles : say.address}</dt>
        <dd class="mono anywhere">{source.address}</dd>
        <dt>{say.digest}</dt>
        <dd>
          <span class="mono anywhere">{source.digest}</span>{' '}
          <Action act={copy} class="plain small" label={say.copyDigest} title={say.copyDigest}>
            <Icon of={Copy} />
          </Action>
        </dd>
      </dl>
      {isStack && source.files[0] && <Images text={source.files[0].text} />}
      {before && <Differences key={`${before.source.digest} ${source.digest}`} before={before} now={source} />}
      {source.refused.length > 0 && (
        <section class="part" aria-labelledby="application-refused">
          <h3 id="application-refused">
            {say.refused} <span class="dim num">{source.refused.length}</span>
          </h3>
          <p class="small dim">{say.refusedWhy}</p>
          <ul class="refused">
            {source.refused.map((each) => (
              <li key={each} class="mono anywhere">
                {each}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Files
        key={source.digest}
        source={source}
        before={before?.source}
        isOpen={!isStack && !before}
        title={isStack ? say.listed : say.filesTitle}
        isStack={isStack}
      />
    </>
  )
}
