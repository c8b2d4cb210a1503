/** Returns the files of a new module: an endpoint that counts, and a page with a button. */
export function skeleton(id: string): Record<string, string> {
  const name = id.charAt(0).toUpperCase() + id.slice(1)
  const descriptor = {
    id,
    name,
    version: '0.1.0',
    description: 'Counts.',
    has_backend: true,
    nav: { label: name, icon: 'puzzle', href: `/modules/${id}` },
  }
  return {
    'module.json': `${JSON.stringify(descriptor, null, 2)}\n`,
    'backend.mjs': backend(id),
    '.gitignore': 'node_modules/\n',
  }
}

const backend = (id: string) => `/** @import { Kit } from './ops-panel-module.d.ts' */

/** @param {Kit} kit */
export default ({ z, defineFunction, definePage }) => [
  defineFunction({
    method: 'GET',
    path: '/api/modules/${id}/count',
    auth: 'user',
    targets: 'none',
    rateLimit: { limit: 1200, seconds: 60, by: 'user' },
    response: z.object({ count: z.number() }),
    handler: async (_, { store }) => ({ count: (await store.get('count')) ?? 0 }),
  }),

  defineFunction({
    method: 'POST',
    path: '/api/modules/${id}/count',
    auth: 'user',
    targets: 'none',
    rateLimit: { limit: 300, seconds: 60, by: 'user' },
    audit: false,
    response: z.object({ message: z.string() }),
    async handler(_, { store }) {
      await store.set('count', ((await store.get('count')) ?? 0) + 1)
      return { message: 'Compté.' }
    },
  }),

  definePage({
    sections: [
      {
        kind: 'facts',
        from: 'GET /api/modules/${id}/count',
        fields: [{ field: 'count', label: { fr: 'Compteur', en: 'Count' }, as: 'number' }],
      },
      { kind: 'action', label: { fr: 'Compter', en: 'Count' }, call: 'POST /api/modules/${id}/count' },
    ],
  }),
]
`
