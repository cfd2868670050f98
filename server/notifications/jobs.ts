import { defineCleanup } from '../platform/jobs/define-cleanup.ts'
import { oldNotifications } from './queries.ts'

export const sweepNotifications = defineCleanup({
  name: 'notification.sweep',
  schedule: '20 4 * * *',
  rows: { notifications: oldNotifications },
})
