import { useMay, useMe } from '../api/session.ts'
import type { Bucket } from './queries.ts'

/** Returns whether the signed-in member is one of the bucket's reviewers. */
export const useMayReview = ({ reviewerUserIds }: Bucket): boolean => {
  const { member } = useMe()
  const mayWrite = useMay('member')
  return mayWrite && (reviewerUserIds.length === 0 || reviewerUserIds.includes(member.userId))
}
