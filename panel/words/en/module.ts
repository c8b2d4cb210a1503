import type { module as fr } from '../fr/module.ts'

export const module: typeof fr = {
  title: 'Module',
  modules: 'Modules',
  refresh: 'Refresh',
  empty: 'Nothing to show.',
  noParts: 'Your rights give access to no part of this page.',
  noList: 'The module’s answer does not contain the expected list. Tell its author.',
  shown: (count, all) => `The first ${count} rows of ${all}`,
  actions: 'Actions',
  actionOf: (label, row) => `${label}: ${row}`,
  yes: 'yes',
  no: 'no',
  nothing: '—',
  done: (label) => `${label}: done.`,
  submit: 'Save',
  choose: 'Choose…',
  secretSet: 'A value is stored. Unchanged if empty.',
  secretRemove: (label) => `Remove the stored value (${label})`,
  fault: {
    required: 'Fill this in.',
    number: 'Enter a number.',
    whole: 'Enter a whole number.',
    least: (limit) => `At least ${limit}.`,
    most: (limit) => `At most ${limit}.`,
    shortest: (limit) => `At least ${limit} characters.`,
    longest: (limit) => `At most ${limit} characters.`,
  },
  stopped: {
    flood: 'The page of this module was stopped: it sent more messages than the panel can handle.',
    focus:
      'The page of this module was stopped: it took the keyboard during a question of the panel. If you were typing your password there, change it.',
    typing:
      'The page of this module was stopped: it took the keyboard while you were writing in the panel. If that was a secret, change it.',
  },
  startAgain: 'Start it again',
  frameOf: (name) => `Page of the module ${name}`,
  bridge: {
    invalid: 'The message does not have the expected form, or is larger than 64 KiB.',
    notDeclared: 'The module does not declare this function, or your rights do not suffice.',
    busy: 'Too many calls are under way.',
    tooLarge: 'The answer is larger than 1 MiB.',
    failed: 'The call failed.',
  },
}
