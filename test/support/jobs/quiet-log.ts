import { openLog } from '../../../server/platform/log.ts'

export const quietLog = () => openLog({ write: () => {} })
