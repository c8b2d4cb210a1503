import { type Host, SshError } from '../ssh/ssh.ts'
import { startServer } from './server.ts'

/** Internal: the argument of the process that serves a module while its author works on it. */
export const DEVELOP = 'develop-module'

/** The one account of a service for authors, with the password of the same name. */
const ACCOUNT = 'dev'

/**
 * Serves a module for its author: a service on the loopback address with temporary data, without a host unless the
 * environment has one. It must be a child
 * of `modules dev`, which it tells its address, and ends with it; nobody can start it by a setting.
 */
export async function runDevelopment(
  [dataDir = '', port = '0']: readonly string[],
  environment: Record<string, string | undefined>,
): Promise<void> {
  if (!process.send || dataDir === '') throw new Error('only « modules dev » starts this process')
  process.once('disconnect', () => process.exit(0))
  const own = {
    PANEL_HOST: '127.0.0.1',
    PANEL_PORT: port,
    PANEL_DATA_DIR: dataDir,
    PANEL_DEPLOYER: 'none',
    PANEL_LOG_LEVEL: 'warn',
  }
  const { url } = environment.PANEL_SSH_HOST
    ? await startServer({ ...environment, ...own })
    : await startServer({ ...NOWHERE, ...own }, undefined, undefined, hostForAuthors())
  process.send({ url })
}

/** Settings of a host that is never asked. */
const NOWHERE = {
  PANEL_SSH_HOST: 'developpement.invalid',
  PANEL_SSH_USERNAME: 'panel',
  PANEL_SSH_PASSWORD: 'none',
}

/** A host that knows one administrator and runs nothing. */
function hostForAuthors(): Host {
  const identity = { name: ACCOUNT, uid: 1000, groups: [ACCOUNT, 'sudo'] }
  const refuse = async () => {
    throw new SshError('refused', 'ce service de développement n’a pas d’hôte : aucune commande n’est exécutée')
  }
  return {
    async signIn(username, password) {
      if (username === ACCOUNT && password === ACCOUNT) return { claim: { identity, runs: true } }
      throw new SshError('bad_credentials', 'le compte est dev, son mot de passe dev')
    },
    answer: async () => 'gone',
    inspect: async (username) =>
      username === ACCOUNT
        ? { ...identity, shell: '/bin/sh', sudo: true, localPassword: true, overdue: undefined }
        : 'gone',
    elevation: async () => 'root',
    penalties: async () => undefined,
    exec: refuse,
    stream: refuse,
    terminal: refuse,
    renew() {},
    cut() {},
    connections: () => 0,
    close() {},
  }
}
