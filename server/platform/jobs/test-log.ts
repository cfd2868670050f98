import { openLog } from '../log.ts'

export const quietLog = () => openLog({ write: () => {} })
