import type { Role } from '../api/session.ts'
import { sentenceCase } from '../lib/format.ts'
import type { Option } from '../ui/controls.tsx'

const roles: Role[] = ['viewer', 'member', 'admin', 'owner']

/** Nobody gives a role above their own. */
export const rolesUpTo = (own: Role): Option[] =>
  roles.slice(0, roles.indexOf(own) + 1).map((role) => ({ value: role, label: sentenceCase(role) }))

export const isAbove = (role: Role, own: Role): boolean => roles.indexOf(role) > roles.indexOf(own)

/** What each role may do, in the order of the roles. */
export const rolesInWords =
  'Viewers read and export. Members also write findings, reviews and monitors. Admins also manage people, keys and connections.'
