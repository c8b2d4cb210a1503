import type { palette as fr } from '../fr/palette.ts'

export const palette: typeof fr = {
  title: 'Commands',
  placeholder: 'Page, target or action',
  results: 'Results',
  none: (search: string) => `Nothing matches “${search}”.`,
  found: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  partial: 'The service did not answer every request. Some commands may be missing.',
  groups: {
    recent: 'Recent',
    page: 'Pages',
    job: 'Running',
    target: 'Targets',
    place: 'Links',
    command: 'Panel',
  },
  kinds: { page: 'Page', job: 'Running', target: 'Target', place: 'Link', command: 'Panel' },
  check: 'Check all targets',
  see: (name: string) => `See ${name}`,
  upgrade: (name: string) => `Upgrade ${name}`,
  terminal: (name: string) => `Open terminal: ${name}`,
  follow: (name: string) => `Follow the upgrade: ${name}`,
  followOther: (name: string) => `Follow: ${name}`,
  hints: { choose: 'choose', open: 'open', close: 'close', openKey: 'Enter', closeKey: 'Esc' },
}
