// A thread that simulates what it is told to.

import { parentPort } from 'node:worker_threads'
import { runTask, type Task } from './studies.ts'

parentPort?.on('message', (task: Task) => parentPort?.postMessage(runTask(task)))
