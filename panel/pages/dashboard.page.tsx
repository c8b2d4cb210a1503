import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function DashboardPage() {
  return <Heading title={words().dashboard.title} />
}
