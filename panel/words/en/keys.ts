import type { keys as fr } from '../fr/keys.ts'

export const keys: typeof fr = {
  title: 'Keyboard shortcuts',
  palette: 'Open the commands',
  filter: 'Filter the page',
  follow: 'Follow the output',
  map: 'Show these shortcuts',
  close: 'Close',
  leaveTerminal: 'Leave the terminal',
  show: 'Show the shortcuts',
  escape: 'Esc',
  shift: 'Shift',
  waiting: 'Go to… Type the letter of a page, or Escape.',
  singleKeys: 'Single-key shortcuts',
  singleKeysMeans: 'Switch them off if you dictate, or if keys are pressed by mistake. It holds for this browser.',
}
