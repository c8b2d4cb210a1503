import * as z from 'zod'

/** The provider by which people sign in as accounts of the host. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  /** The claim that names the account. */
  claim: string
  /** The name of the provider on the sign-in page. */
  name: string
  /** The page of the panel to which the provider sends people back. */
  redirect: string
}

export const OIDC_VARIABLES = {
  PANEL_OIDC_ISSUER: z
    .string()
    .refine(isIssuer, 'une adresse https: sans identifiants, ou http: de cette machine')
    .optional(),
  PANEL_OIDC_CLIENT_ID: z.string().max(1_000).optional(),
  PANEL_OIDC_CLIENT_SECRET: z.string().max(1_000).optional(),
  PANEL_OIDC_CLAIM: z
    .string()
    .regex(/^[\w:./-]{1,200}$/, 'le nom d’une donnée du jeton')
    .default('preferred_username'),
  PANEL_OIDC_NAME: z.string().max(40).default('OpenID Connect'),
}

/** The provider of the environment; undefined without one, and where the client's id or the panel's address is missing. */
export function oidcOf(
  env: z.output<z.ZodObject<typeof OIDC_VARIABLES>>,
  publicUrl: string | undefined,
): OidcSettings | undefined {
  const { PANEL_OIDC_ISSUER: issuer, PANEL_OIDC_CLIENT_ID: clientId } = env
  if (issuer === undefined || clientId === undefined || publicUrl === undefined) return undefined
  return {
    issuer,
    clientId,
    clientSecret: env.PANEL_OIDC_CLIENT_SECRET,
    claim: env.PANEL_OIDC_CLAIM,
    name: env.PANEL_OIDC_NAME,
    redirect: `${publicUrl}/oidc`,
  }
}

/** Tokens in clear may only pass within this machine. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, search, hash } = new URL(text)
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return (protocol === 'https:' || (protocol === 'http:' && isHere)) && username + password + search + hash === ''
}
