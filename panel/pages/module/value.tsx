import { safeLink } from '../../nouns/links.ts'
import { type ShownAs, shownValue, statusKind } from '../../nouns/module-values.ts'
import { Status } from '../../parts/status.tsx'
import { language } from '../../words/words.ts'
import { valueWords } from './words.ts'

/** A value of a module, always as text. */
export function Value({ of: value, as }: { of: unknown; as: ShownAs }) {
  const text = shownValue(value, as, language(), valueWords())
  const isThere = value !== null && value !== undefined && value !== ''
  if (as === 'status' && isThere) return <Status is={statusKind(value)}>{text}</Status>
  if (as === 'code' && isThere) return <code class="mono">{text}</code>
  const href = as === 'link' && typeof value === 'string' ? safeLink(value) : undefined
  if (href?.startsWith('/')) return <a href={href}>{text}</a>
  if (href)
    return (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {text}
      </a>
    )
  return <span>{text}</span>
}

/** Numbers stand at the end of their column. */
export function isNumber(as: ShownAs): boolean {
  return as === 'number' || as === 'bytes' || as === 'duration'
}
