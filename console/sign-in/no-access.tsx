import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { answer, api } from '../api/client.ts'
import { queryClient } from '../api/queries.ts'
import { Button } from '../ui/button.tsx'
import { Await } from '../ui/states.tsx'
import { CardPage } from './card-page.tsx'
import { useOwnInvitations } from './invitations.tsx'

/** Shows the page for people who are signed in but have no active organization. */
export const NoAccess = () => {
  const navigate = useNavigate()
  const joined = useQuery({ queryKey: ['organizations'], queryFn: () => answer(api.GET('/auth/organizations')) })
  const invitations = useOwnInvitations().data?.data ?? []
  const leave = async () => {
    await api.POST('/auth/sign-out', { body: {} }).catch(() => undefined)
    queryClient.clear()
    await navigate({ to: '/sign-in' })
  }
  return (
    <CardPage title="You don’t have access">
      <Await query={joined} lines={1}>
        {({ data }) => (
          <p>
            {data.length === 0
              ? 'You aren’t a member of any organization. Ask an admin to invite you.'
              : `${data.map(({ name }) => name).join(', ')} is suspended. Contact the operator of this Earshot instance.`}
          </p>
        )}
      </Await>
      {invitations.length > 0 && (
        <p>
          <Link to="/invitations">View invitations</Link>
        </p>
      )}
      <div>
        <Button onClick={() => void leave()}>Sign out</Button>
      </div>
    </CardPage>
  )
}
