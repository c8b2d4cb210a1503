import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function TerminalPage() {
  return <Heading title={words().terminal.title} />
}
