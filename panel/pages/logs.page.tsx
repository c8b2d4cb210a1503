import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function LogsPage() {
  return <Heading title={words().logs.title} />
}
