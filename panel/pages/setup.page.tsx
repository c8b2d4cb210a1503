import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function SetupPage() {
  return <Heading title={words().setup.title} />
}
