import { useSignal } from '@preact/signals'
import type { Answer } from '../../../client/index.ts'
import { fromService, words } from '../../words/words.ts'
import type { Offered } from './install-shown.tsx'
import { LeftOut } from './left-out.tsx'
import { OfferedModule } from './offered-module.tsx'
import { registryWords, unbroken } from './words.ts'

/** Rows that are shown before a person asks for more. */
const ROWS = 50

interface AvailableModulesProps {
  of: Answer<'GET /api/registry/modules'>
  /** Whether a module matches the filter. */
  matches(module: Offered): boolean
  isFiltered: boolean
  /** The modules that the other list shows; it may be newer. */
  installed: ReadonlySet<string>
  change(deployment: string | null): Promise<void>
  /** Reloads the list of the forge. */
  again(): Promise<void>
}

/** The modules of the forge that are not installed, and why other repositories are none. */
export function AvailableModules({ of, matches, isFiltered, installed: there, change, again }: AvailableModulesProps) {
  const { modules: say } = words()
  const more = registryWords()
  const rows = useSignal(ROWS)
  const { modules, error, left, reading, progress } = of
  const others = modules.filter(({ id, installed }) => !installed && !there.has(id))
  const matching = others.filter(matches)
  const shown = matching.slice(0, rows.value)
  const next = Math.min(ROWS, matching.length - shown.length)
  return (
    <>
      {error && (
        <div class="notice" role="status">
          <p>{modules.length > 0 ? say.forgeError : say.forgeErrorEmpty}</p>
          <p class="dim">{unbroken(fromService(error))}</p>
        </div>
      )}
      {progress && (
        <p class="dim num" role="status">
          {progress.is_listed
            ? more.reading(progress.read, progress.repositories)
            : more.readingNames(progress.repositories)}
        </p>
      )}
      {others.length === 0 && !error && !reading && <p class="empty">{say.noneAvailable}</p>}
      {isFiltered && others.length > 0 && matching.length === 0 && <p class="empty">{more.noMatch}</p>}
      {shown.length > 0 && (
        <ul class="list modules">
          {shown.map((each) => (
            <OfferedModule key={each.id} module={each} change={change} again={again} />
          ))}
        </ul>
      )}
      {next > 0 && (
        <p>
          <span class="dim num">{more.shownOf(shown.length, matching.length)}</span>{' '}
          <button
            type="button"
            class="button small"
            onClick={() => {
              rows.value += ROWS
            }}
          >
            {more.more(next)}
          </button>
        </p>
      )}
      {left.length > 0 && <LeftOut groups={left} />}
    </>
  )
}
