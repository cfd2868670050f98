// A thread that runs simulations.

import { parentPort } from 'node:worker_threads'
import { runTask, type StudyTask } from './studies.ts'

parentPort?.on('message', (task: StudyTask) => parentPort?.postMessage(runTask(task)))
