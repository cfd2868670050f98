/**
 * Where each table lies when the database is distributed over nodes by `organization_id`: with its organization,
 * copied to every node because it is found without one, or on the coordinator. A test holds migrations to it.
 */
export const placement: Record<string, 'distributed' | 'reference' | 'local'> = {
  organizations: 'reference',
  users: 'reference',
  accounts: 'reference',
  sessions: 'reference',
  verifications: 'reference',
  api_keys: 'reference',
  service_keys: 'reference',
  members: 'distributed',
  invitations: 'distributed',
  audit_events: 'distributed',
  companies: 'distributed',
  agents: 'distributed',
  agent_versions: 'distributed',
  agent_groups: 'distributed',
  agent_group_members: 'distributed',
  job_holders: 'local',
  migrations: 'local',
}
