/** @import { Kit, Limit } from './ops-panel-module.d.ts' */

/** @type {Limit} */
const READS = { limit: 1200, seconds: 60, by: 'user' }
/** @type {Limit} */
const WRITES = { limit: 300, seconds: 60, by: 'user' }

/** @param {Kit} kit */
export default ({ z, defineFunction, definePage, defineSettings, defineTask }) => [
  /** Greets the signed-in user. */
  defineFunction({
    method: 'GET',
    path: '/api/modules/hello/greeting',
    summary: 'A greeting',
    auth: 'user',
    targets: 'none',
    rateLimit: READS,
    response: z.object({ message: z.string(), count: z.number() }),

    async handler(_, { user, store, moduleSettings }) {
      const { word } = await moduleSettings()
      return { message: `${word} ${user.username}.`, count: (await store.get('count')) ?? 0 }
    },
  }),

  /** Lists who was greeted, the newest first. */
  defineFunction({
    method: 'GET',
    path: '/api/modules/hello/greetings',
    summary: 'Who was greeted',
    auth: 'user',
    targets: 'none',
    rateLimit: READS,
    response: z.object({ items: z.array(z.object({ id: z.string(), name: z.string(), at: z.string() })) }),

    async handler(_, { store }) {
      const records = await store.records('greetings').list({ newest: true, limit: 50 })
      return { items: records.map(({ id, value: { name }, updated_at }) => ({ id, name, at: updated_at })) }
    },
  }),

  /** Greets the named person, and keeps the greeting. */
  defineFunction({
    method: 'POST',
    path: '/api/modules/hello/greetings',
    summary: 'Greet somebody',
    auth: 'user',
    targets: 'none',
    rateLimit: WRITES,
    // A greeting is not worth an audit entry.
    audit: false,
    request: { body: z.object({ name: z.string().trim().min(1).max(80).meta({ title: 'Name' }) }) },
    status: 201,
    response: z.object({ message: z.string(), count: z.number() }),

    async handler({ body: { name } }, { store, clock, moduleSettings }) {
      const { word } = await moduleSettings()
      const count = ((await store.get('count')) ?? 0) + 1
      await store.set('count', count)
      // Ids sort by time, so that the newest are listed first.
      await store.records('greetings').put(`${clock().toISOString()} ${String(count).padStart(9, '0')}`, { name })
      return { message: `${word} ${name}.`, count }
    },
  }),

  /** Forgets one greeting. */
  defineFunction({
    method: 'DELETE',
    path: '/api/modules/hello/greetings/:id',
    summary: 'Forget a greeting',
    auth: 'operator',
    targets: 'none',
    rateLimit: WRITES,
    audit: false,
    request: { params: z.object({ id: z.string().min(1).max(200) }) },
    response: z.object({ message: z.string() }),
    errors: ['module_entry_missing'],

    async handler({ params: { id } }, { store, fail }) {
      if (!(await store.records('greetings').delete(id))) throw fail('module_entry_missing')
      return { message: 'Salut oublié.' }
    },
  }),

  /** Counts from zero again. */
  defineFunction({
    method: 'POST',
    path: '/api/modules/hello/reset',
    summary: 'Count from zero',
    auth: 'operator',
    targets: 'none',
    rateLimit: WRITES,
    audit: false,
    response: z.object({ message: z.string() }),

    async handler(_, { store }) {
      await store.set('count', 0)
      return { message: 'Le compteur est à zéro.' }
    },
  }),

  /** How long the host has been running, for administrators. */
  defineFunction({
    method: 'GET',
    path: '/api/modules/hello/uptime',
    summary: 'How long the host has been running',
    auth: 'admin',
    rateLimit: READS,
    response: z.object({ uptime: z.string() }),
    errors: ['ssh_incomplete', 'ssh_password_unreadable', 'ssh_failed'],

    async handler(_, { host, fail }) {
      // A program and its arguments as separate words: no shell reads them.
      const { code, stdout, stderr } = await host.exec(['uptime', '-p'])
      if (code !== 0) throw fail('ssh_failed', { values: { message: stderr.trim() || 'uptime a échoué' } })
      return { uptime: stdout.trim() }
    },
  }),

  /** The panel adds a form with these settings to the page. */
  defineSettings({
    fields: z.object({
      word: z
        .string()
        .trim()
        .min(1)
        .max(20)
        .default('Bonjour')
        .meta({ title: 'Word', description: 'What a greeting begins with.' }),
      keep: z.int().min(1).max(1000).default(100).meta({ title: 'Greetings to keep' }),
      token: z.string().min(8).meta({ title: 'Token', description: 'An example of a secret.' }),
    }),
    secrets: ['token'],
  }),

  /** Removes old greetings once an hour. */
  defineTask({
    name: 'forget',
    every: 3600,
    async run({ store, moduleSettings, signal }) {
      const { keep } = await moduleSettings()
      const greetings = store.records('greetings')
      const newest = await greetings.list({ newest: true, limit: keep })
      const last = newest.at(-1)
      if (!last || newest.length < keep) return
      for (;;) {
        const old = await greetings.list({ newest: true, after: last.id })
        for (const { id } of old) {
          if (signal.aborted) return
          await greetings.delete(id)
        }
        if (old.length === 0) return
      }
    },
  }),

  /** The page at /modules/hello. */
  definePage({
    title: { fr: 'Bonjour', en: 'Hello' },
    sections: [
      {
        kind: 'facts',
        from: 'GET /api/modules/hello/greeting',
        fields: [
          { field: 'message', label: { fr: 'Salut', en: 'Greeting' } },
          { field: 'count', label: { fr: 'Saluts comptés', en: 'Greetings counted' }, as: 'number' },
        ],
      },
      {
        kind: 'form',
        title: { fr: 'Saluer quelqu’un', en: 'Greet somebody' },
        call: 'POST /api/modules/hello/greetings',
        submit: { fr: 'Saluer', en: 'Greet' },
        fields: [{ field: 'name', label: { fr: 'Nom', en: 'Name' } }],
      },
      {
        kind: 'table',
        title: { fr: 'Derniers saluts', en: 'Latest greetings' },
        from: 'GET /api/modules/hello/greetings',
        rows: 'items',
        key: 'id',
        columns: [
          { field: 'name', label: { fr: 'Nom', en: 'Name' } },
          { field: 'at', label: { fr: 'Date', en: 'Date' }, as: 'time' },
        ],
        actions: [
          {
            label: { fr: 'Oublier', en: 'Forget' },
            call: 'DELETE /api/modules/hello/greetings/:id',
            confirm: { fr: 'Oublier ce salut ?', en: 'Forget this greeting?' },
            danger: true,
          },
        ],
        empty: { fr: 'Personne n’a encore été salué.', en: 'Nobody has been greeted yet.' },
        refresh: 30,
      },
      {
        kind: 'action',
        label: { fr: 'Compter depuis zéro', en: 'Count from zero' },
        call: 'POST /api/modules/hello/reset',
        confirm: { fr: 'Remettre le compteur à zéro ?', en: 'Set the counter to zero?' },
      },
    ],
  }),
]
