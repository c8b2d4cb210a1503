import { Heading } from '../parts/heading.tsx'
import { words } from '../words/words.ts'

export function AccountPage() {
  return <Heading title={words().account.title} />
}
