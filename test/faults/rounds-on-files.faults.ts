import { it } from 'vitest'
import { playRounds } from './rounds.ts'

it('rounds on files lose nothing acknowledged, and duplicate nothing', () => playRounds('files'))
