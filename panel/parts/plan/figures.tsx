import type { ComponentChildren } from 'preact'
import { bytes } from '../../nouns/format.ts'
import type { Figures } from '../../nouns/plan.ts'
import { securitySaid } from '../../nouns/manager.ts'
import { language, words } from '../../words/words.ts'

interface FigureRowProps {
  figures: Figures
  /** Whether a target has updates of which nobody knows whether they are about security: the known ones are not all. */
  isUnknown?: boolean
  /** Bytes; null when unknown. */
  download: number | null
  /** Bytes that the disk gains (or, negative, loses); null when unknown, undefined where it is not told. */
  disk?: number | null
}

/** The changes in numbers: what is removed and what is about security have their own colour. */
export function FigureRow({
  figures: { upgraded, added, removed, security },
  isUnknown = false,
  download,
  disk,
}: FigureRowProps) {
  const say = words().plan
  const size = (count: number | null) => (count === null ? '—' : sizeOf(count))
  return (
    <dl class="figures">
      <Figure word={say.figures.upgraded}>{upgraded}</Figure>
      <Figure word={say.figures.added}>{added}</Figure>
      <Figure word={say.figures.removed} kind={removed > 0 ? 'bad' : undefined}>
        {removed}
      </Figure>
      <Figure word={say.figures.security} kind={security > 0 ? 'sec' : undefined}>
        {securitySaid(security, isUnknown)}
      </Figure>
      <Figure word={say.download}>{size(download)}</Figure>
      {disk !== undefined && (
        <Figure word={say.disk} kind="disk">
          {disk !== null && disk !== 0 && (disk > 0 ? '+' : '−')}
          {size(disk === null ? null : Math.abs(disk))}
        </Figure>
      )}
    </dl>
  )
}

function sizeOf(count: number): string {
  return bytes(count, words().shell.units.bytes, language())
}

interface FigureProps {
  word: string
  kind?: 'bad' | 'sec' | 'disk' | undefined
  children: ComponentChildren
}

function Figure({ word, kind, children }: FigureProps) {
  return (
    <div class={kind}>
      <dt>{word}</dt>
      <dd class="num">{children}</dd>
    </div>
  )
}
