import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function ContainersPage() {
  return <Heading title={words().containers.title} />
}
