import * as z from 'zod'
import { isLink, SAFE_LINK, SAFE_LINK_TEXT } from '../../platform/links.ts'
import { parseJson } from '../../platform/untrusted.ts'
import { checked } from '../../runtime/input.ts'
import type { SettingGroup } from '../../settings/settings.ts'

/** The format of the dashboard shortcuts. */
const Shortcuts = z
  .array(
    z.object({
      label: z.string().min(1).max(80),
      href: z
        .string()
        .max(2_000)
        .refine((href) => isLink(href, SAFE_LINK), SAFE_LINK_TEXT)
        .meta({ format: 'link', examples: ['/updates', 'https://pve1.example:8006'] }),
      icon: z.string().max(80).optional(),
    }),
  )
  .max(100)

/** JSON text of a list of `{label, href, icon?}`. */
export const DashboardShortcuts = z
  .string()
  .max(64 * 1024)
  .superRefine((value, { addIssue }) => {
    const parsed = checked(Shortcuts, parseJson(value))
    if (parsed.success) return
    const [issue] = parsed.error.issues
    addIssue(
      `le texte JSON d’une liste de {label, href, icon?} (${issue?.path.join('.') || 'liste'} : ${issue?.message})`,
    )
  })
  .meta({
    override({ jsonSchema }) {
      const { $schema, ...contentSchema } = z.toJSONSchema(Shortcuts, { io: 'input' })
      Object.assign(jsonSchema, { contentMediaType: 'application/json', contentSchema })
    },
  })

/** The example of the documents. */
export const EXAMPLE_SHORTCUTS = '[{"label":"Proxmox","href":"https://pve1.example:8006"}]'

/** The setting of the shortcuts. */
export const DASHBOARD_SETTINGS = {
  fields: { dashboard_shortcuts: DashboardShortcuts },
  secrets: [],
  defaults: { dashboard_shortcuts: '[]' },
} as const satisfies SettingGroup
