import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function UpdatesPage() {
  return <Heading title={words().updates.title} />
}
