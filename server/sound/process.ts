// Measures one recording in its own process, so that a file that needs too much memory or time ends only this process.

import { measureFile } from './measure-file.ts'
import { recordingFd, replyWith } from './reply.ts'

replyWith((options) => measureFile(recordingFd, options))
