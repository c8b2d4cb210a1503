import { imageChanges } from '../../nouns/application.ts'
import { Versions } from '../package-parts.tsx'
import './style.ts'

/** The versions of an application; for the images of a stack, one line for each that changes. */
export function ApplicationVersions({ from, to }: { from: string | null; to: string | null }) {
  const images = imageChanges(from, to)
  if (!images) return <Versions of={{ from, to }} />
  return (
    <span class="image-changes">
      {images.map((each) => (
        <Versions key={`${each.from} ${each.to}`} of={each} />
      ))}
    </span>
  )
}
