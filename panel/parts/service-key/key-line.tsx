import { KeepButtons } from '../access/shown-once.tsx'

/** A public key, or its line of `authorized_keys`, to copy. */
export function KeyLine({ label, text }: { label: string; text: string }) {
  return (
    <figure class="key-line">
      <figcaption class="dim">{label}</figcaption>
      <p class="mono line">{text}</p>
      <KeepButtons text={text} />
    </figure>
  )
}
