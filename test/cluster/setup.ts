import type { TestProject } from 'vitest/node'
import { coordinatorUrl } from '../citus.ts'
import setUp from '../global-setup.ts'

export default (project: TestProject) => {
  if (coordinatorUrl !== undefined) return setUp(project)
  throw new Error('EARSHOT_TEST_CITUS names a cluster, such as postgres://postgres@c:5432,w1:5432,w2:5432/postgres.')
}
