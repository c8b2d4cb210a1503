import * as z from 'zod'

/** Applications of one target that are kept; the look prints no more. */
export const MOST_APPLICATIONS = 200

/** The tool that manages an application. */
export const ApplicationKind = z.enum(['community_script', 'compose', 'flatpak', 'snap'])
export type ApplicationKind = z.infer<typeof ApplicationKind>

/** The kind, a colon, and the name that its program knows it by: a project of Compose, a ref of flatpak, a snap. */
export const ApplicationId = z
  .string()
  .max(250)
  .regex(/^(community_script|compose|flatpak|snap):[A-Za-z0-9][A-Za-z0-9._/+@-]*$/)
  .meta({
    id: 'ApplicationId',
    description: 'An application of one target: its kind, a colon, and the name that its program knows it by.',
    examples: ['community_script:vaultwarden', 'compose:monitoring'],
  })

/** SHA-256 of everything that a run would execute, in hexadecimal digits. */
export const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ id: 'ApplicationDigest', examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] })

/** A version as the application tells it, for people. */
export const Version = z.string().min(1).max(200)

/**
 * An application as a look found it, before the service adds what it knows. `address` is where the command `update` loads
 * its script from; `digest` is what is offered where the look can tell it, such as the digests of a stack's newer images.
 */
export const FoundApplication = z.object({
  id: ApplicationId,
  kind: ApplicationKind,
  name: z.string().min(1).max(200),
  version: Version.nullable(),
  available: Version.nullable(),
  source: z.object({ address: z.string().max(500), digest: Digest.nullable() }).nullable(),
  updatable: z.boolean(),
})
export type FoundApplication = z.infer<typeof FoundApplication>

/** An application as the API shows it. */
export const Application = FoundApplication.extend({
  source: z
    .object({
      address: z.string(),
      digest: Digest.nullable().meta({ description: 'Of what was fetched last; null before the first time.' }),
      agreed: z.boolean().meta({ description: 'Whether an administrator has agreed to this digest.' }),
      agreed_by: z
        .string()
        .nullable()
        .meta({ description: 'The name of the account that has agreed to it; null where nobody has.' }),
      agreed_at: z.string().nullable(),
    })
    .nullable(),
  updatable: z.boolean().meta({ description: 'Whether the panel can start an update of it.' }),
}).meta({ id: 'Application' })
export type Application = z.infer<typeof Application>
