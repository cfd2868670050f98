import { conversationTasks } from './conversations/ingest/tasks.ts'
import { integrationTasks } from './integrations/tasks.ts'
import { serveTasks } from './platform/threads/serve-tasks.ts'

/** Registers the tasks that run in threads next to the event loop. */
serveTasks([...conversationTasks, ...integrationTasks])
