import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function JobPage() {
  return <Heading title={words().job.title} />
}
