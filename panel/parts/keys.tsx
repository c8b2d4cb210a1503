/** Listens for the keys of the panel, and shows their map. */
export function Keys() {
  return null
}
