import { it } from 'vitest'
import { playRounds } from './rounds.ts'

it('rounds on s3 lose nothing acknowledged, and duplicate nothing', () => playRounds('s3'))
