import { useMutation, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import type { Schemas } from '../api/schema.d.ts'
import { sentenceCase } from '../lib/format.ts'
import { Button } from '../ui/button.tsx'
import { Await, FaultNote } from '../ui/states.tsx'
import styles from './card-page.module.css'
import { CardPage } from './card-page.tsx'
import { pageOf } from './search.ts'

type Invitation = Schemas['OwnInvitation']

const invitationsKey = ['own-invitations']

export const useOwnInvitations = () =>
  useQuery({ queryKey: invitationsKey, queryFn: () => answer(api.GET('/auth/invitations')) })

const InvitationCard = ({ invitation: { organizationId, organization, role } }: { invitation: Invitation }) => {
  const body = { organizationId }
  const accept = useMutation({
    mutationFn: () => answer(api.POST('/auth/invitations/accept', { body })),
    // The page reloads, because everything in the cache belongs to another organization.
    onSuccess: () => location.assign('/'),
  })
  const decline = useMutation({
    mutationFn: () => answer(api.POST('/auth/invitations/decline', { body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: invitationsKey }),
  })
  const isBusy = accept.isPending || decline.isPending
  const error = accept.error ?? decline.error
  return (
    <li className={styles.invitation}>
      <p>
        <strong>{organization}</strong>
        <br />
        Role: {sentenceCase(role)}
      </p>
      <div className={styles.choices}>
        <Button
          look="primary"
          busy={accept.isPending}
          disabled={isBusy}
          onClick={() => accept.mutate()}
          aria-label={`Join ${organization}`}
        >
          Join
        </Button>
        <Button
          busy={decline.isPending}
          disabled={isBusy}
          onClick={() => decline.mutate()}
          aria-label={`Decline the invitation to ${organization}`}
        >
          Decline
        </Button>
      </div>
      {error && <FaultNote error={error} />}
    </li>
  )
}

/** Lists the person's invitations, so that they can choose which organizations to join. */
export const Invitations = () => {
  const { to } = useSearch({ from: '/invitations' })
  const invitations = useOwnInvitations()
  return (
    <CardPage title="Your invitations">
      <Await query={invitations} lines={2}>
        {({ data }) => (
          <>
            <p>
              {data.length === 0
                ? 'You have no pending invitations.'
                : 'Other members can see your name and email address. Only join organizations you know.'}
            </p>
            {data.length > 0 && (
              <ul className={styles.invitations}>
                {data.map((invitation) => (
                  <InvitationCard key={invitation.organizationId} invitation={invitation} />
                ))}
              </ul>
            )}
            <p>
              <a href={pageOf(to)}>{data.length === 0 ? 'Continue' : 'Not now'}</a>
            </p>
          </>
        )}
      </Await>
    </CardPage>
  )
}
