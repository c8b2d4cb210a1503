import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function SettingsPage() {
  return <Heading title={words().settings.title} />
}
