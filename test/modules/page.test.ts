import { expect, test } from 'vitest'
import { button, form, FUNCTIONS, page, parse, ROOT, table } from './probe-page.ts'

test('a module without a page declares functions alone', () => {
  const { functions, page } = parse()

  expect(functions).toHaveLength(FUNCTIONS.length)
  expect(page).toBeUndefined()
})

test('a table is completed: its texts in both languages, its actions with what they send of a row', () => {
  const section = page(
    table({
      title: { fr: 'Sites', en: 'All sites' },
      columns: [{ field: 'owner.name', label: 'Owner', as: 'code' }],
      actions: [
        { label: 'Remove', call: `DELETE ${ROOT}/sites/:id`, danger: true, confirm: 'Sure?' },
        { label: 'Rename', call: `POST ${ROOT}/rename` },
      ],
      refresh: 10,
    }),
  )?.sections[0]

  expect(section).toEqual({
    kind: 'table',
    title: { fr: 'Sites', en: 'All sites' },
    from: `GET ${ROOT}/sites`,
    rows: 'items',
    key: 'id',
    columns: [{ field: 'owner.name', label: { fr: 'Owner', en: 'Owner' }, as: 'code' }],
    actions: [
      {
        label: { fr: 'Remove', en: 'Remove' },
        call: `DELETE ${ROOT}/sites/:id`,
        params: ['id'],
        body: null,
        confirm: { fr: 'Sure?', en: 'Sure?' },
        danger: true,
      },
      {
        label: { fr: 'Rename', en: 'Rename' },
        call: `POST ${ROOT}/rename`,
        params: [],
        body: ['id', 'name'],
        confirm: null,
        danger: false,
      },
    ],
    empty: null,
    refresh: 10,
  })
})

test('the list of a table may be the answer itself, or lie where the schema says nothing', () => {
  expect(page(table({ from: `GET ${ROOT}/list`, rows: '' }))?.sections).toHaveLength(1)
  expect(page(table({ rows: 'open.any.list', columns: [{ field: 'x.y', label: 'X' }] }))?.sections).toHaveLength(1)
})

test('the fields of a form, their kinds and bounds come from the schema of the body', () => {
  const [section] = page(form())?.sections ?? []
  const field = {
    help: null,
    nullable: false,
    empty: false,
    whole: false,
    min: null,
    max: null,
    choices: [],
    initial: null,
  }
  const named = (text: string) => ({ fr: text, en: text })

  expect(section?.kind === 'form' && section.fields).toEqual([
    { ...field, name: 'host', label: named('Hôte'), as: 'text', required: true, min: 1, max: 80 },
    {
      ...field,
      name: 'port',
      label: named('port'),
      as: 'number',
      required: false,
      whole: true,
      min: 1,
      max: 65_535,
      initial: 443,
    },
    { ...field, name: 'note', label: named('note'), as: 'text', required: false, nullable: true, empty: true },
    {
      ...field,
      name: 'mode',
      label: named('mode'),
      help: named('The way'),
      as: 'choice',
      required: true,
      choices: ['fast', 'safe'],
    },
    { ...field, name: 'active', label: named('active'), as: 'checkbox', required: false },
  ])
})

test('a form names the fields that it shows, and how', () => {
  const [section] =
    page(form({ fields: [{ field: 'mode' }, { field: 'host', label: 'Host', as: 'password', help: 'Kept' }] }))
      ?.sections ?? []

  expect(section?.kind === 'form' && section.fields.map(({ name, as }) => [name, as])).toEqual([
    ['mode', 'choice'],
    ['host', 'password'],
  ])
})

test('what the module changes afterwards changes no page', () => {
  const section = button()
  const kept = page(section)
  section.label = 'Changed'

  expect(kept?.sections[0]).toMatchObject({ label: { fr: 'Check' } })
})
