// Calculates the smallest detectable difference, and how many conversations a given difference requires. Never
// calculates the power for the observed difference, which would only restate p.

import { type AnytimeDifference, tLevel } from './anytime.ts'
import type { ArmEstimates } from './arm.ts'
import { type Design, standardDesign } from './design.ts'
import { normalQuantile, normalTail } from './distributions.ts'
import type { FixedDifference } from './fixed.ts'
import { edge } from './interval.ts'
import { informationRate, normalMultiplier } from './mixtures.ts'
import { twoSidedZ } from './rate-intervals.ts'

export type AnalysisPoint = {
  variance: number
  /** The number of effective conversations. The result for a single look does not use it. */
  conversations: number
  mode: 'fixed' | 'anytime'
  alpha: number
  informationRate: number
}

/** Returns the power after this many times more conversations. 0 means now. */
export const powerAt = (difference: number, look: AnalysisPoint, more: number): number => {
  const { variance, conversations, mode, alpha } = look
  const z = difference / Math.sqrt(variance / (1 + more))
  const needed =
    mode === 'fixed' ? twoSidedZ(alpha) : normalMultiplier(conversations * (1 + more) * look.informationRate, alpha)
  return normalTail(needed - z) + normalTail(needed + z)
}

const mostTimes = 2 ** 27

/**
 * Returns the factor by which the number of conversations must grow for reliable detection, or null if it would be
 * unrealistically high.
 */
export const timesMore = (difference: number, look: AnalysisPoint, power: number): number | null => {
  const tooFew = (more: number) => powerAt(difference, look, more) < power
  if (!tooFew(0)) return 0
  if (tooFew(mostTimes)) return null
  return edge(tooFew, 0, mostTimes)
}

export type ExpectedPrecision = {
  /** The smallest difference that can currently be detected reliably. */
  fixedDifference: number | null
  anytimeDifference: number | null
  /** The difference to detect reliably, and the number of additional conversations that this requires. */
  target: number | null
  moreConversations: number | null
  moreDays: number | null
}

/**
 * Returns a difference that most people want to detect: a fifth of arm a's rate, or of its scores' standard deviation.
 */
export const defaultTarget = ({ a }: ArmEstimates, { kind }: Design): number | null => {
  if (a.mean === null || a.observed < 2) return null
  const target = 0.2 * (kind === 'boolean' ? a.mean : Math.sqrt(a.deviations / (a.observed - 1)))
  return target > 0 ? target : null
}

export const expectedPrecision = (
  arms: ArmEstimates,
  design: Design,
  { fixed, anytime }: { fixed: FixedDifference; anytime: AnytimeDifference },
  { target, conversationsPerDay }: { target: number | null; conversationsPerDay: number | null },
): ExpectedPrecision => {
  const { power } = standardDesign
  const zOfPower = normalQuantile(power)
  const smallest = ({ standardError, multiplier }: { standardError: number | null; multiplier: number | null }) =>
    !standardError || multiplier === null ? null : (multiplier + zOfPower) * standardError
  const { standardError, effectiveConversations } = anytime
  const more =
    target === null || standardError === null || effectiveConversations === null
      ? null
      : timesMore(
          Math.abs(target),
          {
            variance: standardError ** 2,
            conversations: effectiveConversations,
            mode: 'anytime',
            alpha: tLevel(design, design.alpha),
            informationRate: informationRate(design),
          },
          power,
        )
  const moreConversations = more === null ? null : Math.ceil((arms.a.observed + arms.b.observed) * more)
  return {
    fixedDifference: smallest(fixed),
    anytimeDifference: smallest(anytime),
    target,
    moreConversations,
    moreDays: moreConversations === null || !conversationsPerDay ? null : moreConversations / conversationsPerDay,
  }
}
