import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function ModulesPage() {
  return <Heading title={words().modules.title} />
}
