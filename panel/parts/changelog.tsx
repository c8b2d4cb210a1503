import { day, full, instant } from '../nouns/format.ts'
import { Loaded } from './loaded.tsx'
import { useLoad } from '../wire/load.ts'
import { api } from '../wire/panel.ts'
import { language, words } from '../words/words.ts'

interface ChangelogProps {
  target: string
  package: string
  from: string | null
  to: string
}

/** The changes between the installed and the offered version, read from the target when it is shown. */
export function Changelog({ target, package: name, from, to }: ChangelogProps) {
  const say = words().updates
  const load = useLoad((signal) =>
    api('GET /api/updates/changelog', { query: { target, package: name, from: from ?? '', to }, signal }),
  )
  return (
    <Loaded of={load} rows={1}>
      {({ entries, source }) => (
        <>
          {entries.length === 0 && <p class="dim">{say.noChanges}</p>}
          {entries.map(({ version, urgency, date, text }) => (
            <article key={version}>
              <p>
                <b class="mono">{version}</b>{' '}
                <span class="dim">
                  {urgency !== null && (say.urgencies[urgency] ?? urgency)}
                  {urgency !== null && instant(date) !== undefined && ' · '}
                  <Day at={date} />
                </span>
              </p>
              <pre>{text}</pre>
            </article>
          ))}
          {source === 'package' && <p class="dim small">{say.fromPackage}</p>}
        </>
      )}
    </Loaded>
  )
}

/** The day of a version, with the full time as its title. */
function Day({ at }: { at: string | null }) {
  const ms = instant(at)
  if (ms === undefined) return null
  return (
    <time dateTime={new Date(ms).toISOString()} title={full(ms, language())}>
      {day(ms, language())}
    </time>
  )
}
