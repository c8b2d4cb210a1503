const READS = { limit: 1200, seconds: 60, by: 'user' }
const WRITES = { limit: 300, seconds: 60, by: 'user' }

/** The number of greetings since the service started. */
let count = 0

export default ({ z, defineFunction }) => [
  /** Greets the signed-in user. */
  defineFunction({
    method: 'GET',
    path: '/api/modules/hello/greeting',
    auth: 'user',
    rateLimit: READS,
    response: z.object({ message: z.string() }),

    handler: (_, { user }) => ({ message: `Bonjour ${user.username}.` }),
  }),

  /** Greets the named person, and counts the greeting. */
  defineFunction({
    method: 'POST',
    path: '/api/modules/hello/greetings',
    auth: 'user',
    rateLimit: WRITES,
    // A greeting is not worth an audit entry.
    audit: false,
    request: { body: z.object({ name: z.string().trim().min(1).max(80) }) },
    status: 201,
    response: z.object({ message: z.string(), count: z.number() }),

    handler({ body: { name } }) {
      count += 1
      return { message: `Bonjour ${name}.`, count }
    },
  }),

  /** How long the host has been running, for administrators. */
  defineFunction({
    method: 'GET',
    path: '/api/modules/hello/uptime',
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
]
