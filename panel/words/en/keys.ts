import type { keys as fr } from '../fr/keys.ts'

export const keys: typeof fr = {
  title: 'Keyboard shortcuts',
  palette: 'Open the command palette',
  filter: 'Filter this page',
  follow: 'Follow the output',
  map: 'Show keyboard shortcuts',
  close: 'Close',
  leaveTerminal: 'Leave the terminal',
  show: 'Show shortcuts',
  escape: 'Esc',
  shift: 'Shift',
  waiting: 'Go to… Press the letter of a page, or Escape.',
  singleKeys: 'Single-key shortcuts',
  singleKeysMeans: 'Switch them off if you use voice input or press keys by mistake. This applies to this browser.',
}
