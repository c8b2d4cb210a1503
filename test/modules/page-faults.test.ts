import { expect, test } from 'vitest'
import { button, fault, form, FUNCTIONS, ROOT, sectionFault, table } from './probe-page.ts'

test.each([
  ['an unknown kind', { kind: 'other' }, 'son genre (kind) est inconnu'],
  ['no section', { kind: 'page', sections: [] }, '« sections » est vide'],
  ['no list', { kind: 'page', sections: 1 }, '« sections » est invalide (attendu : une liste)'],
  ['an unknown field', { kind: 'page', sections: [button()], icon: 'x' }, 'a des champs inconnus : icon'],
  ['21 sections', { kind: 'page', sections: Array.from({ length: 21 }, () => button()) }, '« sections » a plus de 20'],
])('a page with %s is refused', (_, declared, message) => {
  expect(fault(declared)).toContain(message)
})

test('a second page is refused', () => {
  const one = { kind: 'page', sections: [button()] }

  expect(fault(one, one)).toBe(`déclaration ${FUNCTIONS.length + 2} (page) : une page est déjà déclarée`)
})

const UNKNOWN = 'nomme une fonction que le module ne déclare pas'

test.each([
  ['an unknown kind', { kind: 'chart' }, '« sections.0.kind » doit être table, facts, form, action, text'],
  ['no section', 'table', '« sections.0 » est invalide (attendu : un objet)'],
  ['an unknown field', button({ href: '/' }), '« sections.0 » a des champs inconnus : href'],
  ['a call of another module', button({ call: 'POST /api/modules/other/x' }), UNKNOWN],
  ['a call of the service', button({ call: 'POST /api/updates/run' }), UNKNOWN],
  ['a misspelt call', button({ call: `POST ${ROOT}/chekc` }), UNKNOWN],
  [
    'a button that reads',
    button({ call: `GET ${ROOT}/list` }),
    '« sections.0.call » doit être « POST, PUT, PATCH, DELETE »',
  ],
  ['a button with a body', button({ call: `POST ${ROOT}/settings` }), '« call » exige dans son corps host, mode'],
  [
    'a button with a parameter',
    button({ call: `DELETE ${ROOT}/sites/:id` }),
    '« call » ne peut pas avoir de paramètre',
  ],
  [
    'a long label',
    button({ label: 'x'.repeat(81) }),
    '« sections.0.label » est invalide (attendu : un texte, ou {fr, en}',
  ],
  ['one language', button({ label: { fr: 'x' } }), '« sections.0.label.en »'],
  ['an empty label', button({ label: ' ' }), '« sections.0.label »'],
  ['a text with an escape', { kind: 'text', text: '\u001b[31m' }, '« sections.0.text »'],
  ['a table that writes', table({ from: `POST ${ROOT}/check` }), '« sections.0.from » doit être « GET »'],
  ['a table of a text', table({ from: `GET ${ROOT}/text`, rows: '' }), 'ne répond pas en JSON'],
  ['a table that needs a query', table({ from: `GET ${ROOT}/asked`, rows: '' }), 'exige des paramètres'],
  ['a table with a parameter', table({ from: `GET ${ROOT}/sites/:id` }), '« from » ne peut pas avoir de paramètre'],
  ['rows that are no list', table({ rows: '' }), '« rows » manque : la réponse n’est pas une liste'],
  ['rows that are missing', table({ rows: 'sites' }), '« rows » ne mène pas à une liste : « sites »'],
  ['an unknown key', table({ key: 'uuid' }), '« key » nomme « uuid », qui n’est pas dans la réponse'],
  ['an unknown column', table({ columns: [{ field: 'nmae', label: 'x' }] }), '« columns » nomme « nmae »'],
  ['a column below a text', table({ columns: [{ field: 'name.x', label: 'x' }] }), '« columns » nomme « name.x »'],
  ['no column', table({ columns: [] }), '« sections.0.columns » est vide'],
  ['an unknown form', table({ columns: [{ field: 'name', label: 'x', as: 'html' }] }), '« sections.0.columns.0.as »'],
  ['a quick refresh', table({ refresh: 4 }), '« sections.0.refresh » 5 s au moins'],
  [
    'a parameter that rows lack',
    table({ actions: [{ label: 'x', call: `POST ${ROOT}/sites/:slug/stop` }] }),
    '« actions.0.call » nomme « slug », qui n’est pas dans la réponse',
  ],
  [
    'a body that rows lack',
    table({ actions: [{ label: 'x', call: `POST ${ROOT}/settings` }] }),
    '« actions.0.call » nomme « host », qui n’est pas dans la réponse',
  ],
  [
    'a fact that is missing',
    { kind: 'facts', from: `GET ${ROOT}/sites`, fields: [{ field: 'x', label: 'x' }] },
    '« x »',
  ],
  ['a form without a body', form({ call: `POST ${ROOT}/check` }), '« call » nomme une fonction sans corps'],
  ['a form of lists', form({ call: `POST ${ROOT}/lists` }), 'le champ « all » n’est ni texte'],
  ['a form with an unknown field', form({ fields: [{ field: 'hots' }] }), '« fields » omet host, mode'],
  [
    'a misspelt field of a form',
    form({ fields: [{ field: 'hots' }] }),
    '« fields » nomme « hots », qui n’est pas dans le',
  ],
  [
    'a form with a field too many',
    form({ fields: ['host', 'mode', 'x'].map((field) => ({ field })) }),
    '« fields » nomme « x », qui n’est pas dans le corps',
  ],
  ['a field twice', form({ fields: [{ field: 'host' }, { field: 'host' }] }), '« fields » nomme deux fois un champ'],
  [
    'a number as a text area',
    form({ fields: [{ field: 'host' }, { field: 'mode' }, { field: 'port', as: 'textarea' }] }),
    'le champ « port » ne peut pas être textarea',
  ],
  ['present values of nothing', form({ from: `GET ${ROOT}/nothing` }), UNKNOWN],
])('a section with %s is refused', (_, section, message) => {
  expect(sectionFault(section)).toContain(message)
})
