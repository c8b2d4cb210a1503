import { type Answer, ApiError } from '../../../client/index.ts'
import { askProof, confirm } from '../../parts/dialog.tsx'
import { api } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { forgeWords } from './forge-words.ts'

export type Settings = Answer<'GET /api/settings'>

/** The extra values of a change, and its question where it needs the user’s own proof. */
interface Agreement {
  ssh_host_key?: string
  /** The question that asks for the password. */
  question?: Parameters<typeof askProof>[0]
}

type Change = Readonly<Record<string, string>>

/**
 * Stores a change with the confirmation that it needs; false when the user declines. A new host is shown by its key, which is
 * read without sending a password; a new certificate for the stored token is shown by its fingerprint.
 */
export async function storeAgreed(known: Settings, change: Change): Promise<boolean> {
  const { question, ...more } = await agreement(known, change)
  return question ? storeProven(known, { ...change, ...more }, question) : store({ ...change, ...more })
}

/**
 * Stores a change that needs the user's own proof; false when the user declines. A host that takes keys only asks for a factor
 * instead of the password, in place. So where the service account has a key, the password is asked for when the service wants it.
 */
export async function storeProven(
  known: Settings,
  change: Change,
  question: Parameters<typeof askProof>[0],
): Promise<boolean> {
  if (known.ssh_key_set) {
    if (!(await confirm(question))) return false
    try {
      return await store(change)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'proof_required') throw error
    }
  }
  const current_password = await askProof(question)
  return current_password === undefined ? false : store({ ...change, current_password })
}

async function store(body: Change): Promise<true> {
  await api('PATCH /api/settings', { body })
  return true
}

async function agreement(known: Settings, change: Change): Promise<Agreement> {
  const say = words().settings
  const { ssh_host, hypervisor_fingerprint, hypervisor_token } = change
  if (ssh_host !== undefined) {
    const { ssh_host_key } = await api('POST /api/settings/host-key', { body: { ssh_host } })
    const question = {
      title: say.moveTitle(ssh_host),
      text: (
        <>
          <p>{ssh_host_key.endsWith(known.ssh_host_key) && known.ssh_host_key ? say.moveSameKey : say.moveKey}</p>
          <p class="mono key">{ssh_host_key}</p>
          <p>{say.moveText}</p>
        </>
      ),
      verb: say.move,
      danger: true,
    }
    return { ssh_host_key, question }
  }
  if (hypervisor_fingerprint !== undefined && known.hypervisor_token_set && !hypervisor_token)
    return { question: { title: say.certificateTitle, text: say.certificateText, verb: say.save } }
  if (trustsForge(known, change)) {
    const { acceptTitle: title, acceptText: text, accept: verb } = forgeWords()
    return { question: { title, text, verb } }
  }
  return {}
}

/** Whether a change trusts another certificate for a token of the forge that the service knows already. */
export function trustsForge(known: Settings, change: Change): boolean {
  const { forge_environment: given, forge_token_set } = known
  const { forge_url, forge_fingerprint, forge_token } = change
  if (forge_fingerprint === undefined || forge_token) return false
  const before = known.forge_url || given?.url
  const next = (forge_url ?? known.forge_url) || given?.url
  const isStored = forge_token_set && originOf(next) === originOf(before)
  return isStored || (given?.token_set === true && originOf(next) === originOf(given.url))
}

function originOf(url = ''): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
