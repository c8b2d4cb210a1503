import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function AuditPage() {
  return <Heading title={words().audit.title} />
}
