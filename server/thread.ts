import { conversationTasks } from './conversations/ingest/tasks.ts'
import { integrationTasks } from './integrations/tasks.ts'
import { serveTasks } from './platform/threads/serve-tasks.ts'

/** What threads run beside the event loop of a process. */
serveTasks([...conversationTasks, ...integrationTasks])
