import type { Role } from '../api/session.ts'
import { sentenceCase } from '../lib/format.ts'
import type { Option } from '../ui/controls.tsx'

const roles: Role[] = ['viewer', 'member', 'admin', 'owner']

/** Returns the roles up to the member's own, because members can't assign a higher role. */
export const rolesUpTo = (own: Role): Option[] =>
  roles.slice(0, roles.indexOf(own) + 1).map((role) => ({ value: role, label: sentenceCase(role) }))

export const isAbove = (role: Role, own: Role): boolean => roles.indexOf(role) > roles.indexOf(own)

/** Describes the roles in order. */
export const rolesInWords =
  'Viewers can read and export. Members can also create findings, reviews, and monitors. Admins can also manage members, API keys, and connections.'
