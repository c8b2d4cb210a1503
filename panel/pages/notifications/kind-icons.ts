import { Bell, type IconNode, Mail, Megaphone, MessageSquare, Smartphone, Webhook } from 'lucide'
import type { Kind } from '../../nouns/notification.ts'

/** The icon of each kind of channel. */
export const KIND_ICONS: Readonly<Record<Kind, IconNode>> = {
  email: Mail,
  ntfy: Smartphone,
  gotify: Bell,
  webhook: Webhook,
  apprise: Megaphone,
  matrix: MessageSquare,
}
