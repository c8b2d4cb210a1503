import { ShieldAlert } from 'lucide'
import { Icon } from './icon.tsx'
import { words } from '../words/words.ts'

interface SecurityTagProps {
  count: number
  /** How many of them fix a vulnerability that is known to be exploited. */
  exploited: number
  /** Shows a word instead of the count, for a single package. */
  word?: boolean
}

/** A shield with the number of security updates; nothing when there are none. */
export function SecurityTag({ count, exploited, word = false }: SecurityTagProps) {
  const say = words().updates
  if (count + exploited === 0) return null
  if (word)
    return (
      <span class={exploited > 0 ? 'tag err' : 'tag warn'}>
        <Icon of={ShieldAlert} />
        {exploited > 0 ? say.exploitedOne : say.security}
      </span>
    )
  return (
    <span class={exploited > 0 ? 'tag err' : 'tag warn'} title={say.securityOf(count)}>
      <Icon of={ShieldAlert} />
      <span>
        {count}
        <span class="narrow"> {say.securityWord}</span>
        {exploited > 0 && `, ${say.exploited(exploited)}`}
      </span>
    </span>
  )
}
