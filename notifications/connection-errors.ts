/*
 * Why a receiver could not be reached, in French, by what the runtime says of it. Programs in between replace codes by their own, so
 * the message is looked at, too; it is never shown, because it may quote what was sent.
 */

const REASONS: readonly (readonly [RegExp, (server: string, host: string) => string])[] = [
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate|altnames/i,
    (server) => `Le certificat de ${server} est à un autre nom.`,
  ],
  [/CERT_HAS_EXPIRED|certificate has expired/i, (server) => `Le certificat de ${server} a expiré.`],
  [
    /CERT_NOT_YET_VALID|certificate is not yet valid/i,
    (server) =>
      `Le certificat de ${server} n’est pas encore valable : l’horloge d’une des machines est peut-être fausse.`,
  ],
  [
    /DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|self[- ]signed certificate/i,
    (server) => `Le certificat de ${server} est auto-signé, et le canal ne l’accepte pas.`,
  ],
  [
    /UNABLE_TO_(VERIFY|GET_ISSUER)|unable to (verify the first|get (local )?issuer) certificate/i,
    (server) => `Le certificat de ${server} n’est signé par aucune autorité connue.`,
  ],
  [/ENOTFOUND|ENODATA/, (_, host) => `Le nom ${host} n’existe pas dans le DNS.`],
  [/EAI_AGAIN|ESERVFAIL|ETIMEOUT/, (_, host) => `Le DNS ne répond pas, le nom ${host} n’a donc pas été trouvé.`],
]

/** Characters of a message that are looked at. */
const LOOKED_AT = 1_000

/** Returns the sentence for an error of a connection; undefined for one that this does not know. */
export function whyUnreachable(error: unknown, server: string, host: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error ? String(error.code) : ''
  const text = `${code} ${error.message.slice(0, LOOKED_AT)}`
  return REASONS.find(([pattern]) => pattern.test(text))?.[1](server, host)
}
