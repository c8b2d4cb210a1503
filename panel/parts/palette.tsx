/** Pages, targets and actions by their name: `Ctrl K`. */
export function Palette() {
  return null
}

export function openPalette(): void {}
